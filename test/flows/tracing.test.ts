// Guarantee: with OpenTelemetry's usual variables, one trace shows a request, its decision, its append, its
// projection and its delivery, across processes and with their durations, and no span contains a secret or personal
// data. Without the variables, no code of OpenTelemetry is loaded.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { traceOf } from '../../src/tracing/tracing.ts'
import { createHost, type Environment, program } from '../harness/process.ts'
import { waitMs } from '../harness/time-limits.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { client, createVendor, productId } from './vendor.ts'

const Value = z.looseObject({ stringValue: z.string().optional() })
const Span = z.looseObject({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  attributes: z.array(z.looseObject({ key: z.string(), value: Value })).default([]),
  links: z.array(z.looseObject({ traceId: z.string(), spanId: z.string() })).default([]),
})
type Span = z.infer<typeof Span>
const Sent = z.looseObject({
  resourceSpans: z.array(
    z.looseObject({
      resource: z.looseObject({ attributes: z.array(z.looseObject({ key: z.string(), value: Value })) }),
      scopeSpans: z.array(z.looseObject({ spans: z.array(Span) })),
    }),
  ),
})

/** An OpenTelemetry collector over HTTP that keeps what it receives. */
async function startCollector() {
  const spans: Span[] = []
  const ports = new Set<string>()
  let text = ''
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      if (request.url !== '/v1/traces') return response.writeHead(404).end()
      text += JSON.stringify(body)
      for (const { resource, scopeSpans } of Sent.parse(body).resourceSpans) {
        const service = resource.attributes.find(({ key }) => key === 'service.name')
        ports.add(service?.value.stringValue ?? '')
        spans.push(...scopeSpans.flatMap((scope) => scope.spans))
      }
      return response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    address: `http://127.0.0.1:${port}`,
    spans,
    ports,
    text: () => text,
    ofTrace: (traceId: string) => spans.filter((span) => span.traceId === traceId),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const host = createHost()
const person = { email: 'canary.person@example.com', name: 'Canary Person' }
let collector: Awaited<ReturnType<typeof startCollector>>
let receiver: Receiver
let environment: Environment
let token: string
beforeAll(async () => {
  collector = await startCollector()
  receiver = await startReceiver()
  environment = { ...(await host.stores()).environment, KEYLEDGER_WEBHOOK_ALLOW_PRIVATE: 'true' }
  token = await createVendor(environment)
  const Webhook = z.looseObject({ secret: z.string() })
  const words = ['webhook', 'set', receiver.url, '--tenant', 'acme']
  receiver.secret = (await host.json(Webhook, words, environment)).secret
})
afterAll(async () => {
  await receiver.close()
  collector.close()
})

const usual = (): Environment => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.address,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_SERVICE_NAME: 'keyledger-test',
  OTEL_BSP_SCHEDULE_DELAY: '50',
})

describe('a trace', () => {
  let requestId = ''
  let licenseKey = ''
  const route = 'POST /v1/licenses/activate'
  const caller = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }

  beforeAll(async () => {
    const traced = { ...environment, ...usual() }
    const api = await host.serve(traced, { roles: 'api' })
    const followers = await host.serve(traced, { roles: 'api,projector,reactions,dispatcher' })
    const vendor = client(api.address, token)
    await vendor.createProduct(1)
    licenseKey = (await vendor.mint(person)).licenseKey
    const answer = await fetch(`${api.address}/v1/licenses/activate`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        traceparent: `00-${caller.traceId}-${caller.spanId}-01`,
      },
      body: JSON.stringify({ product_id: productId, license_key: licenseKey, device_id: 'canary-device' }),
    })
    expect(answer.status).toBe(200)
    requestId = answer.headers.get('request-id') ?? ''
    await vendor.validate(licenseKey, 'canary-device')
    const isDelivered = () =>
      expect(receiver.delivered.map(({ event }) => event)).toContain('license.activated')
    await vi.waitFor(isDelivered, { timeout: waitMs })
    await Promise.all([api.end('SIGTERM'), followers.end('SIGTERM')])
  })

  const own = () => collector.ofTrace(traceOf(requestId).traceId)

  test("contains all five steps under the request's id", () => {
    const names = own().map(({ name }) => name)
    const steps = [route, 'decide license', 'append license', 'project', 'deliver webhook']
    expect(names).toStrictEqual(expect.arrayContaining([...steps, 'send webhook', 'append delivery']))
    expect([...collector.ports]).toStrictEqual(['keyledger-test'])
  })

  test('begins with the request, and every other span descends from it', () => {
    const ids = new Map(own().map((span) => [span.spanId, span]))
    const first = own().find(({ name }) => name === route)
    expect(first?.spanId).toBe(traceOf(requestId).spanId)
    expect(first?.parentSpanId ?? '').toBe('')
    for (const span of own()) if (span !== first) expect(ids.has(span.parentSpanId ?? '')).toBe(true)
  })

  test("links the caller's trace and does not continue it", () => {
    const first = own().find(({ name }) => name === route)
    expect(first?.links.map(({ traceId, spanId }) => ({ traceId, spanId }))).toStrictEqual([caller])
    expect(collector.ofTrace(caller.traceId)).toStrictEqual([])
  })

  test('contains no secret or personal data', () => {
    const all = collector.text()
    expect(all).toContain('POST /v1/licenses/validate')
    const secrets = [
      token,
      licenseKey,
      licenseKey.replaceAll('-', ''),
      receiver.secret,
      environment.KEYLEDGER_MASTER_KEY ?? '',
      person.email,
      person.name,
      'canary-device',
    ]
    for (const secret of secrets) expect(all.includes(secret)).toBe(false)
  })

  test('does not contain probes', () =>
    expect(collector.spans.filter(({ name }) => name.includes('livez'))).toStrictEqual([]))

  test('is also begun by a command of the operator', async () => {
    const before = new Set(collector.spans)
    const { code } = await host.run(['tenant', 'suspend', 'acme'], { ...environment, ...usual() })
    expect(code).toBe(0)
    const made = () => collector.spans.filter((span) => !before.has(span))
    await expect.poll(() => made().map(({ name }) => name)).toContain('command')
    const traceIds = new Set(made().map(({ traceId }) => traceId))
    expect(traceIds.size).toBe(1)
    expect(made().map(({ name }) => name)).toContain('append tenant')
  })
})

describe('the OpenTelemetry code', () => {
  /** The number of OpenTelemetry modules that a command loads. */
  async function loaded(variables: Environment): Promise<number> {
    const counting = `
      import { registerHooks } from 'node:module'
      let count = 0
      registerHooks({ load(url, context, next) {
        if (url.includes('/@opentelemetry/')) count++
        return next(url, context)
      } })
      process.on('exit', () => process.stderr.write('loaded ' + count + '\\n'))`
    const hook = `data:text/javascript,${encodeURIComponent(counting)}`
    const words = ['node', '--import', hook, program, 'tenant', 'list']
    const { code, stderr } = await host.start(words, { ...environment, ...variables }).finished
    expect(code).toBe(0)
    return Number(/loaded (\d+)/.exec(stderr)?.[1])
  }

  test.each([[{}], [{ OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }]])(
    'is not loaded with %j',
    async (variables) => expect(await loaded(variables)).toBe(0),
  )

  test('is loaded when traces are on', async () => expect(await loaded(usual())).toBeGreaterThan(10))
})

test('a missing collector does not delay the end of a command', async () => {
  const gone = { ...usual(), OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }
  const { code, stdout } = await host.run(['tenant', 'list', '--json'], { ...environment, ...gone })
  expect(code).toBe(0)
  expect(stdout).toContain('acme')
})
