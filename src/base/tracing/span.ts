/** The words of tracing; src/base/tracing/tracing.ts explains them. */

/** The parts of a request, by their names in Server-Timing. */
export const PARTS = { turn: "waiting for a turn", db: "database", read: "reading", render: "rendering" } as const;
export type PartName = keyof typeof PARTS;
/** The time that each part of a request has taken so far, in milliseconds. */
export type Parts = Partial<Record<PartName, number>>;

/** Values that come from the code: names of operations, tasks and models, statuses, ids of requests. */
export type Attributes = Readonly<Record<string, string | number>>;

/** One step of a trace that has started. */
export type Span = {
  /** Where the step is in its trace, in the form of the W3C header `traceparent`. */
  readonly traceparent: string;
  /**
   * @param end.name the final name, if it is known only now
   * @param end.error what went wrong, as a code or a status, never as a sentence
   */
  end(end?: { name?: string; attributes?: Attributes; error?: string | undefined }): void;
};

/** server: a request. consumer: a job. client: a statement or a call to a provider. internal: the rest. */
export type SpanKind = "server" | "consumer" | "client" | "internal";

/** Makes spans and sends them. */
export type Tracer = {
  /**
   * @param parent the `traceparent` of the step that caused this one, or as a client sent it. An invalid one is ignored
   */
  start(name: string, kind: SpanKind, parent: string | undefined, attributes: Attributes): Span;
  /** Sends the remaining spans. Never fails. */
  close(): Promise<void>;
};
