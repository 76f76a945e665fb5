import { createSocket, type RemoteInfo } from "node:dgram";
import type { AddressInfo } from "node:net";

/** The part of ava's `t` that registers a clean-up. */
type Teardown = { teardown: (clean: () => Promise<void>) => void };

/** A nameserver that answers for some names, and is silent for all others. */
export type Nameserver = {
  /** Its address, for Resolver.setServers. */
  address: string;
  /** The names that it was asked for, each as often as it was asked. */
  asked: () => string[];
};

/** A question is a name, in labels with their lengths before them, two bytes for its type and two for its class. */
const QUESTION = 12;
const IPV4 = 1;
/** A standard answer without an error, from a server that also asks others (RFC 1035, section 4.1.1). */
const ANSWERED = 0x8180;

/** Returns the name that a message asks for, and the place after it. */
const nameIn = (message: Buffer): [name: string, end: number] => {
  const labels: string[] = [];
  let place = QUESTION;
  for (let length = message[place] ?? 0; length > 0; length = message[place] ?? 0) {
    labels.push(message.toString("latin1", place + 1, place + 1 + length));
    place += 1 + length;
  }
  return [labels.join(".").toLowerCase(), place + 1];
};

/** Returns a record: the name of the question, a type, class IN, no time to live, and the address with its length. */
const recordOf = (type: number, address: string): Buffer => {
  const bytes = address.split(".").map(Number);
  return Buffer.from([0xc0, QUESTION, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]);
};

/**
 * Answers questions until the test ends.
 * @param names the IPv4 addresses of each name that it answers for; there are none of IPv6
 */
export const serveNames = async (t: Teardown, names: Record<string, string[]>): Promise<Nameserver> => {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (message: Buffer, { port, address }: RemoteInfo) => {
    const [name, end] = nameIn(message);
    asked.push(name);
    const known = names[name];
    if (known === undefined) return;
    const records = message.readUInt16BE(end) === IPV4 ? known.map((one) => recordOf(IPV4, one)) : [];
    const head = Buffer.alloc(QUESTION);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(ANSWERED, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([head, message.subarray(QUESTION, end + 4), ...records]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => socket.close(() => resolve())));
  return { address: `127.0.0.1:${(socket.address() as AddressInfo).port}`, asked: () => [...asked] };
};
