import type { Token } from "./tokens.ts";

/**
 * Turns of phrase that say what a person wants, with words of any kind in between: "looking for subcontract work",
 * "a car for 5 days". What stands fixed is vocabulary; these are its grammar.
 */

const words = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/));

/** Looking for something. */
const SEEKS =
  words(`looking seeking seeks seek want wants after suche sucht suchen cherche recherche busco busca cerco cerca procuro procura zoek zoekt szukam
  szuka poszukuje open available`);

/** What who works for pay looks for. */
const WORK =
  words(`work jobs shifts contracts contract contracting role roles position positions gigs employment subcontract clients commissions
  stelle arbeit job auftrage festanstellung schichten anstellung teilzeitstelle nebenjob putzstelle travail emploi poste missions chantiers
  boulot trabajo empleo curro lavoro impiego lavoretti trabalho emprego werk baan opdrachten klussen pracy zlecen zatrudnienia`);

/** How many words may stand between. */
const SEEKING_REACH = 5;

/** True when somebody looks for work: "Plasterer with own tools looking for subcontract work". */
export const seeksWork = (tokens: readonly Token[]): boolean =>
  tokens.some((token, at) => {
    if (!SEEKS.has(token.folded)) return false;
    for (let next = at + 1; next <= at + SEEKING_REACH; next++) {
      const word = tokens[next];
      if (word === undefined || word.opens || /[,;(]/.test(word.before)) return false;
      // "looking for someone to do some work" looks for the one who does it.
      if (SOMEBODY.has(word.folded)) return false;
      if (WORK.has(word.folded)) return true;
    }
    return false;
  });

const SOMEBODY = words(
  "someone somebody anyone jemanden quelqu alguien qualcuno alguem iemand kogos person people to who",
);

const BEFORE_STAY = words("for fur pour durante por per para voor na x");
const STAY =
  words(`day days night nights week weeks weekend weekends month months tage tagen nachte nachten wochen monate jours nuits semaines mois
  dias noches semanas meses giorni notti settimane mesi noites dagen nachten weken maanden dni noce nocy tygodnie tygodni miesiace miesiecy`);

/** True when something is wanted for a while: "a car for 5 days", "für 3 Wochen". */
export const namesStay = (tokens: readonly Token[]): boolean =>
  tokens.some(
    (token, at) =>
      /^\d{1,2}$/.test(token.folded) &&
      STAY.has(tokens[at + 1]?.folded ?? "") &&
      BEFORE_STAY.has(tokens[at - 1]?.folded ?? ""),
  );
