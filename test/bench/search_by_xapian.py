"""Searches by Xapian, in process, for test/bench/peers.ts.

  index TSV FOLDER                 builds a database from lines of: id, title, text, domain, price, currency
  serve FOLDER                     answers lines of JSON {queries, seconds, processes} with the searches a second
"""

import json
import multiprocessing
import sys
import time

import xapian

PRICE = 0
PREFIXES = {"domain": "XD", "currency": "XC"}


def index(source, folder):
    database = xapian.WritableDatabase(folder, xapian.DB_CREATE_OR_OVERWRITE)
    generator = xapian.TermGenerator()
    generator.set_stemmer(xapian.Stem("en"))
    with open(source, encoding="utf-8") as lines:
        for line in lines:
            number, title, text, domain, price, currency = line.rstrip("\n").split("\t")
            document = xapian.Document()
            generator.set_document(document)
            generator.index_text(title, 3)
            generator.increase_termpos()
            generator.index_text(text)
            document.add_boolean_term(PREFIXES["domain"] + domain)
            document.add_boolean_term(PREFIXES["currency"] + currency)
            document.add_value(PRICE, xapian.sortable_serialise(float(price)))
            document.set_data(number)
            database.add_document(document)
    database.commit()


def search(database, parser, wanted):
    enquire = xapian.Enquire(database)
    words = wanted.get("words")
    if words:
        parser.set_default_op(xapian.Query.OP_OR if wanted.get("any") else xapian.Query.OP_AND)
        query = parser.parse_query(words)
    else:
        query = xapian.Query.MatchAll
    filters = [xapian.Query(PREFIXES[name] + wanted[name]) for name in PREFIXES if name in wanted]
    if "most" in wanted:
        filters.append(xapian.Query(xapian.Query.OP_VALUE_LE, PRICE, xapian.sortable_serialise(float(wanted["most"]))))
    for one in filters:
        query = xapian.Query(xapian.Query.OP_FILTER, query, one)
    enquire.set_query(query)
    return [match.document.get_data() for match in enquire.get_mset(0, 10)]


def work(folder, queries, seconds, results):
    database = xapian.Database(folder)
    parser = xapian.QueryParser()
    parser.set_stemmer(xapian.Stem("en"))
    parser.set_stemming_strategy(xapian.QueryParser.STEM_SOME)
    parser.set_database(database)
    done = found = 0
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        found += len(search(database, parser, queries[done % len(queries)]))
        done += 1
    results.put((done / (time.monotonic() - start), found / done))


def serve(folder):
    for line in sys.stdin:
        wanted = json.loads(line)
        results = multiprocessing.Queue()
        processes = [
            multiprocessing.Process(target=work, args=(folder, wanted["queries"], wanted["seconds"], results))
            for _ in range(wanted["processes"])
        ]
        for process in processes:
            process.start()
        told = [results.get() for _ in processes]
        for process in processes:
            process.join()
        print(json.dumps({"rate": sum(rate for rate, _ in told), "found": told[0][1]}), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "index":
        index(sys.argv[2], sys.argv[3])
    else:
        serve(sys.argv[2])
