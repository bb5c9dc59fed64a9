// Guarantee: every process derives the same trace from a correlation id, and samples it alike.
import { describe, expect, test } from 'vitest'
import { parseConfig } from '../../src/config.ts'
import { parseTraceparent, traceOf } from '../../src/tracing/tracing.ts'

test('a trace is derived from its correlation id, as the documentation computes it', () => {
  // printf 'keyledger trace %s' req_1 | sha256sum
  expect(traceOf('req_1')).toStrictEqual({
    traceId: '05f46f8da999e64e562d80ac6d6e607b',
    spanId: '9e9f1e6baeed3f0c',
  })
  expect(traceOf('req_2').traceId).not.toBe(traceOf('req_1').traceId)
})

describe('traceparent', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const span = '00f067aa0ba902b7'

  test('is read in the standard’s format', () => {
    expect(parseTraceparent(`00-${trace}-${span}-01`)).toStrictEqual({
      traceId: trace,
      spanId: span,
      isSampled: true,
    })
    expect(parseTraceparent(`00-${trace}-${span}-00`)?.isSampled).toBe(false)
  })

  test.each([
    undefined,
    '',
    ['a', 'b'],
    `00-${trace}-${span}`,
    `01-${trace}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${trace}-${span}-01-more`,
  ])('%j is none', (header) => expect(parseTraceparent(header)).toBeUndefined())
})

describe('the variables of OpenTelemetry', () => {
  const settings = (variables: Record<string, string>) => parseConfig(variables).tracing
  const address = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }

  test('switch traces on with an endpoint or an exporter, and off', () => {
    expect(settings({})).toBeUndefined()
    expect(settings({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' })).toBeUndefined()
    expect(settings(address)).toStrictEqual({
      protocol: 'http/protobuf',
      ratio: 1,
      batch: { delayMs: 5000, queue: 2048, size: 512 },
    })
    expect(settings({ OTEL_TRACES_EXPORTER: 'otlp' })).toBeDefined()
    expect(settings({ ...address, OTEL_TRACES_EXPORTER: 'none' })).toBeUndefined()
    expect(settings({ ...address, OTEL_SDK_DISABLED: 'true' })).toBeUndefined()
  })

  test.each([
    ['always_on', undefined, 1],
    ['always_off', '0.5', 0],
    ['traceidratio', '0.25', 0.25],
    ['parentbased_traceidratio', '0.25', 0.25],
    ['parentbased_traceidratio', undefined, 1],
  ])('the sampler %s with %s takes %d', (sampler, part, ratio) =>
    expect(
      settings({
        ...address,
        OTEL_TRACES_SAMPLER: sampler,
        ...(part !== undefined && { OTEL_TRACES_SAMPLER_ARG: part }),
      })?.ratio,
    ).toBe(ratio),
  )

  test.each([
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'must be http/protobuf or http/json; it is "grpc"'],
    [{ OTEL_TRACES_EXPORTER: 'jaeger' }, 'must be otlp or none; it is "jaeger"'],
    [{ OTEL_TRACES_SAMPLER_ARG: '2' }, 'must be a number of traces from 0 to 1; it is "2"'],
  ])('%j is refused with what is allowed', (variables, message) =>
    expect(() => settings({ ...address, ...variables })).toThrow(message),
  )
})
