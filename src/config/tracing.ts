import { z } from 'zod'
import { inputWords } from '../domain/input-words.ts'
import { decimal, oneOf, wholeNumber } from './values.ts'

/**
 * The OpenTelemetry variables that keyledger reads. The exporter reads address, headers, certificates, time
 * limit and compression (`OTEL_EXPORTER_OTLP_…`).
 */
const Environment = z.object({
  OTEL_SDK_DISABLED: oneOf('true', 'false').default('false'),
  OTEL_TRACES_EXPORTER: oneOf('otlp', 'none').optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: oneOf('http/protobuf', 'http/json').default('http/protobuf'),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: oneOf('http/protobuf', 'http/json').optional(),
  OTEL_TRACES_SAMPLER: oneOf(
    'always_on',
    'always_off',
    'traceidratio',
    'parentbased_always_on',
    'parentbased_always_off',
    'parentbased_traceidratio',
  ).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: decimal(0, 1, 'traces').default(1),
  OTEL_BSP_SCHEDULE_DELAY: wholeNumber(10, 60_000).default(5000),
  OTEL_BSP_MAX_QUEUE_SIZE: wholeNumber(1, 1_000_000).default(2048),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: wholeNumber(1, 100_000).default(512),
})

/** How traces are sampled and sent. */
export type TracingSettings = {
  protocol: 'http/protobuf' | 'http/json'
  /** The share of traces that is sampled, from 0 to 1. */
  ratio: number
  batch: { delayMs: number; queue: number; size: number }
}

/**
 * Parses the variables for traces.
 * @returns undefined when traces are off, which is the default unless an exporter or an endpoint is set
 */
export function parseTracing(
  given: Record<string, string | undefined>,
): z.ZodSafeParseResult<TracingSettings | undefined> {
  return Settings.safeParse(given, { error: inputWords })
}

const Settings = Environment.transform((data): TracingSettings | undefined => {
  const address = data.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? data.OTEL_EXPORTER_OTLP_ENDPOINT
  const exporter = data.OTEL_TRACES_EXPORTER ?? (address === undefined ? 'none' : 'otlp')
  if (data.OTEL_SDK_DISABLED === 'true' || exporter === 'none') return undefined
  return {
    protocol: data.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? data.OTEL_EXPORTER_OTLP_PROTOCOL,
    ratio: ratioOf(data.OTEL_TRACES_SAMPLER, data.OTEL_TRACES_SAMPLER_ARG),
    batch: {
      delayMs: data.OTEL_BSP_SCHEDULE_DELAY,
      queue: data.OTEL_BSP_MAX_QUEUE_SIZE,
      size: Math.min(data.OTEL_BSP_MAX_EXPORT_BATCH_SIZE, data.OTEL_BSP_MAX_QUEUE_SIZE),
    },
  }
})

/** Every trace starts in keyledger, so `parentbased_` makes no difference. */
function ratioOf(sampler: string, ratio: number): number {
  if (sampler.endsWith('always_on')) return 1
  return sampler.endsWith('always_off') ? 0 : ratio
}
