import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Tracer } from "./span.ts";

/**
 * Sends spans to a collector by OTLP over HTTP. The packages read the standard variables: OTEL_EXPORTER_OTLP_ENDPOINT,
 * OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES.
 *
 * It uses no global state of OpenTelemetry and no automatic instrumentation, which would trace URLs and statements with
 * their values.
 */

/** A stopping process waits this long for its last spans. Losing them does no harm. */
const LAST_SPANS_MS = 1_000;
/** One try to send spans, in milliseconds. A collector is near. */
const EXPORT_TIMEOUT_MS = 5_000;
const SEND_EVERY_MS = 1_000;

const KINDS = {
  server: SpanKind.SERVER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
} as const;

/** Carries the position in a trace in the W3C header. */
const propagator = new W3CTraceContextPropagator();
const SETTER = {
  set(carrier: Record<string, string>, key: string, value: string): void {
    carrier[key] = value;
  },
};
const GETTER = {
  get: (carrier: Record<string, string>, key: string) => carrier[key],
  keys: (carrier: Record<string, string>) => Object.keys(carrier),
};

/**
 * Opens the tracer of a process.
 * @param service the name of the process, if OTEL_SERVICE_NAME does not name it
 */
export const openTracer = (service: string): Tracer => {
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ "service.name": service }))
      .merge(detectResources({ detectors: [envDetector] })),
    // When the collector is slow or gone, spans beyond the queue's 2,048 are dropped.
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ timeoutMillis: EXPORT_TIMEOUT_MS }),
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  const tracer = provider.getTracer("souk");
  return {
    start(name, kind, parent, attributes) {
      const context =
        parent === undefined ? ROOT_CONTEXT : propagator.extract(ROOT_CONTEXT, { traceparent: parent }, GETTER);
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, context);
      const carrier: Record<string, string> = {};
      propagator.inject(trace.setSpan(ROOT_CONTEXT, span), carrier, SETTER);
      return {
        traceparent: carrier["traceparent"] ?? "",
        end(end = {}) {
          if (end.name !== undefined) span.updateName(end.name);
          if (end.attributes !== undefined) span.setAttributes(end.attributes);
          if (end.error !== undefined) {
            span.setAttribute("error.type", end.error);
            span.setStatus({ code: SpanStatusCode.ERROR });
          }
          span.end();
        },
      };
    },
    async close() {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, LAST_SPANS_MS);
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
};
