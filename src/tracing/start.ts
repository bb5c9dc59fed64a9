import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import {
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { withTimeout } from '../async/timeout.ts'
import type { TracingSettings } from '../config/tracing.ts'
import { Refusal } from '../domain/refusal.ts'
import {
  type Annotate,
  type IncomingRequest,
  parseTraceparent,
  type TraceIds,
  type Tracing,
  traceOf,
  type Work,
} from './tracing.ts'

/** The span of the running work, and another correlation id that it covers. */
type ActiveSpan = { span: Span; alsoCovers: string | undefined }

const kinds = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER }
const closeTimeoutMs = 2000

/**
 * Records traces and exports them as configured by OpenTelemetry's variables. Nothing is registered globally.
 * @param onFailure called when spans could not be sent; they are lost
 */
export async function startTracing(
  settings: TracingSettings,
  onFailure: (error: unknown) => void,
): Promise<Tracing> {
  const ids = createIds()
  const provider = await createProvider(settings, ids, onFailure)
  const tracer = provider.getTracer('keyledger')
  const active = new AsyncLocalStorage<ActiveSpan>()
  const begin = (work: Work, startTime?: number) => beginWork(tracer, active.getStore(), work, startTime)

  /** The first span of a trace gets the id that every process derives for it. */
  function beginTrace(
    requestId: string,
    name: string,
    kind: SpanKind,
    links: Link[],
    attributes: object,
  ): Span {
    const options = { kind, links, attributes: { ...attributes, 'keyledger.request_id': requestId } }
    return ids.pinned(traceOf(requestId), () => tracer.startSpan(name, options, ROOT_CONTEXT))
  }

  async function runIn<T>(
    span: Span,
    alsoCovers: string | undefined,
    run: (annotate: Annotate) => Promise<T>,
  ) {
    try {
      return await active.run({ span, alsoCovers }, () => run((attributes) => annotate(span, attributes)))
    } catch (error) {
      markFailed(span, error)
      throw error
    } finally {
      span.end()
    }
  }

  return {
    beginRequest({ requestId, method, route, traceparent }: IncomingRequest, follows) {
      const caller = parseTraceparent(traceparent)
      const links = caller ? [linkTo(caller)] : []
      const span = beginTrace(requestId, `${method} ${route}`, SpanKind.SERVER, links, {
        'http.request.method': method,
        'http.route': route,
      })
      active.run({ span, alsoCovers: undefined }, follows)
      return (status) => {
        span.setAttribute('http.response.status_code', status)
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
        span.end()
      }
    },
    beginCommand: (requestId, run) =>
      runIn(beginTrace(requestId, 'command', SpanKind.INTERNAL, [], {}), undefined, run),
    within(work, run) {
      const span = begin(work)
      return span ? runIn(span, work.alsoCovers, run) : run(() => undefined)
    },
    withinSync(work, run) {
      const span = begin(work)
      if (!span) return run()
      try {
        return run()
      } catch (error) {
        markFailed(span, error)
        throw error
      } finally {
        span.end()
      }
    },
    record(work, startedAt) {
      begin(work, startedAt)?.end()
    },
    close: () => withTimeout(provider.shutdown(), closeTimeoutMs).catch(onFailure),
  }
}

async function createProvider(
  settings: TracingSettings,
  idGenerator: IdGenerator,
  onFailure: (error: unknown) => void,
): Promise<TracerProvider> {
  const sampler = new TraceIdRatioBasedSampler(settings.ratio)
  return new TracerProvider({
    idGenerator,
    // Trace ids follow from recorded values, and sampling from the id, so every process decides the same.
    sampler: new ParentBasedSampler({
      root: sampler,
      remoteParentSampled: sampler,
      remoteParentNotSampled: sampler,
    }),
    resource: resourceFromAttributes({
      'service.name': 'keyledger',
      'service.instance.id': randomUUID(),
      'process.pid': process.pid,
    }).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reportingFailures(await exporterFor(settings.protocol), onFailure),
        scheduledDelayMillis: settings.batch.delayMs,
        maxQueueSize: settings.batch.queue,
        maxExportBatchSize: settings.batch.size,
      }),
    ],
  })
}

/** @returns undefined when the work belongs to no trace */
function beginWork(
  tracer: Tracer,
  active: ActiveSpan | undefined,
  work: Work,
  startTime?: number,
): Span | undefined {
  const parent = parentOf(active, work)
  if (parent === undefined) return undefined
  const { name, kind = 'internal', correlationId, attributes } = work
  const options = {
    kind: kinds[kind],
    links: parent.links,
    attributes: {
      ...attributes,
      ...(correlationId !== undefined && { 'keyledger.correlation_id': correlationId }),
    },
    ...(startTime !== undefined && { startTime }),
  }
  return tracer.startSpan(name, options, parent.context)
}

/**
 * The parent is the running work if it has the same correlation id, else the first span of the work's own
 * trace.
 */
function parentOf(
  active: ActiveSpan | undefined,
  { correlationId }: Work,
): { context: Context; links: Link[] } | undefined {
  const underActive = active && { context: trace.setSpan(ROOT_CONTEXT, active.span), links: [] }
  if (correlationId === undefined) return underActive
  const of = traceOf(correlationId)
  const activeContext = active?.span.spanContext()
  if (activeContext?.traceId === of.traceId || active?.alsoCovers === correlationId) return underActive
  const first = { ...of, traceFlags: TraceFlags.SAMPLED, isRemote: true }
  return {
    context: trace.setSpanContext(ROOT_CONTEXT, first),
    links: activeContext === undefined ? [] : [{ context: activeContext }],
  }
}

function linkTo({ traceId, spanId, isSampled }: TraceIds & { isSampled: boolean }): Link {
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE
  return { context: { traceId, spanId, traceFlags, isRemote: true } }
}

const annotate = (span: Span, attributes: Parameters<Annotate>[0]): void => {
  for (const [name, value] of Object.entries(attributes)) {
    span.setAttribute(name, typeof value === 'object' ? [...value] : value)
  }
}

/** Records only the kind of failure, because an error message may contain data of the command. */
function markFailed(span: Span, error: unknown): void {
  if (error instanceof Refusal) {
    span.setAttribute('keyledger.refusal', error.code)
    return
  }
  span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown')
  span.setStatus({ code: SpanStatusCode.ERROR })
}

/** Generates random ids, unless certain ids are set for the next span. */
function createIds(): IdGenerator & { pinned<T>(ids: TraceIds, make: () => T): T } {
  const random = new RandomIdGenerator()
  let next: TraceIds | undefined
  return {
    generateTraceId: () => next?.traceId ?? random.generateTraceId(),
    generateSpanId: () => next?.spanId ?? random.generateSpanId(),
    pinned(ids, make) {
      next = ids
      try {
        return make()
      } finally {
        next = undefined
      }
    },
  }
}

async function exporterFor(protocol: TracingSettings['protocol']): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto')
  return new OTLPTraceExporter()
}

/** Reports failures to the callback; the SDK would write them to the console. */
function reportingFailures(exporter: SpanExporter, onFailure: (error: unknown) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, ({ code, error }) => {
        if (code !== 0) onFailure(error)
        done({ code: 0 })
      }),
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush && { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  }
}
