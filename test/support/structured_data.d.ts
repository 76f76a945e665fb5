/** The types of the validator, which comes without any: the part that tests use. */
declare module "@adobe/structured-data-validator" {
  type Issue = { severity: "ERROR" | "WARNING"; issueMessage: string };
  export default class Validator {
    validate(extracted: { jsonld: object; microdata: object; rdfa: object }): Promise<Issue[]>;
  }
}
