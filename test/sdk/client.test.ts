/**
 * Guarantee: one request at a time, each with a time limit; attempts are repeated with jitter and keep to Retry-After;
 * a running client validates by itself and stops when it is told to.
 */
import { beforeEach, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { createClient, memoryStorage, type State, webStorage } from '../../src/sdk/javascript/app/index.ts'
import { sdkVersion } from '../../src/sdk/javascript/app/version.ts'
import { retryAfterMs } from '../../src/sdk/javascript/retry-after.ts'
import { createDevice, type Device } from './device.ts'

const beginning = Date.parse('2026-11-21T09:30:00.000Z')
type Answer = { status: number; body: string; retryAfter?: string } | 'silence' | 'no connection'

let time: number
let device: Device
let answers: readonly Answer[]
let asked: { at: number; path: string; body: unknown }[]
beforeEach(() => {
  time = beginning
  answers = []
  asked = []
  const clock = {
    now: () => new Date(time),
    advance: (ms: number) => {
      time += ms
    },
  }
  device = createDevice(clock, () => new Set())
})

const next = (): Answer => {
  const [first, ...rest] = answers
  answers = rest
  return first ?? settings
}
const settings: Answer = { status: 200, body: '{"free_tier_enabled":true}' }

const open = (more: object = {}) =>
  createClient({
    baseUrl: 'https://licenses.example.com/',
    tenantId: 'acme',
    productId: 'editor',
    sdkKey: 'kl_sdk_1',
    storage: memoryStorage(),
    clock: device.clock,
    random: () => 0.5,
    async fetch(url, init) {
      asked.push({
        at: time - beginning,
        path: new URL(url).pathname,
        body: init.body === undefined ? undefined : (JSON.parse(init.body) as unknown),
      })
      const answer = next()
      if (answer === 'no connection') throw new TypeError('fetch failed')
      if (answer === 'silence') return new Promise(() => undefined)
      const headers = new Headers(answer.retryAfter === undefined ? {} : { 'retry-after': answer.retryAfter })
      return { status: answer.status, headers, text: async () => answer.body }
    },
    ...more,
  })
const busy = (retryAfter: string): Answer => ({ status: 429, body: '{"error":"too many"}', retryAfter })

test('calls at the same time share one request', async () => {
  const client = open()
  const [one, other] = await device.settle(Promise.all([client.validate(), client.validate()]))
  expect(asked).toStrictEqual([{ at: 0, path: '/acme/editor/config', body: undefined }])
  expect(one).toBe(other)
  expect(one).toStrictEqual({ ok: true, state: { status: 'free', clockSetBack: false } })
})

test('an attempt ends after its time limit, and the next waits up to half a second, then one second', async () => {
  answers = ['silence', 'no connection', { status: 503, body: '<h1>' }]
  const outcome = await device.settle(open().validate())
  expect(asked.map(({ at }) => at)).toStrictEqual([0, 15_250, 15_750])
  expect(outcome).toMatchObject({
    ok: false,
    problem: { code: 'unavailable' },
    state: { status: 'unlicensed' },
  })
})

test.each([
  ['seconds', '4', 4000],
  ['a date', new Date(beginning + 7000).toUTCString(), 7000],
])('Retry-After in %s is kept to within a call', async (_, header, ms) => {
  answers = [busy(header)]
  expect(await device.settle(open().validate())).toMatchObject({ ok: true })
  expect(asked.map(({ at }) => at)).toStrictEqual([0, ms + 250])
})

test('a longer pause ends the call, and nothing is sent before it is over', async () => {
  answers = [busy('3600')]
  const client = open()
  const limited = { ok: false, problem: { code: 'rate_limited', retryAfterMs: 3_600_000 } }
  expect(await device.settle(client.validate())).toMatchObject(limited)
  time += 1000
  expect(await device.settle(client.validate())).toMatchObject({ problem: { retryAfterMs: 3_599_000 } })
  expect(asked).toHaveLength(1)
  time += 3_599_000
  expect(await device.settle(client.validate())).toMatchObject({ ok: true })
})

test('Retry-After that is neither seconds nor a date is ignored', () => {
  for (const header of [null, '', '-1', 'soon', '1.5']) expect(retryAfterMs(header, 0)).toBeUndefined()
  expect(retryAfterMs('Fri, 31 Dec 1999 23:59:59 GMT', beginning)).toBe(0)
  expect(retryAfterMs('999999999', 0)).toBe(86_400_000)
})

test('a key that the server refuses is asked for once, and says why', async () => {
  answers = [{ status: 422, body: '{"error":"activation limit reached","reason":"seat_limit_reached"}' }]
  expect(await device.settle(open({ deviceName: 'Desk' }).activate('ACME-1'))).toStrictEqual({
    ok: false,
    problem: { code: 'seat_limit_reached', message: 'activation limit reached' },
    state: { status: 'unlicensed', clockSetBack: false },
  })
  expect(asked).toMatchObject([
    { body: { license_key: 'ACME-1', instance_name: 'Desk', sdk: 'js', sdk_version: sdkVersion } },
  ])
})

test.each([
  [401, '{"error":"the SDK key is not valid"}', 'misconfigured'],
  [404, '{"error":"product not found"}', 'misconfigured'],
  [403, '{"error":"the tenant is suspended"}', 'forbidden'],
  [422, '<html>', 'not_genuine'],
  [200, '{"activated":true,"instance_id":"ins_1","lease":{}}', 'not_genuine'],
])('the answer %i %s is %s', async (status, body, code) => {
  answers = [1, 2, 3].map(() => ({ status, body }))
  expect(await device.settle(open().activate('ACME-1'))).toMatchObject({ ok: false, problem: { code } })
})

test('a running client validates again after half a day, after a failure sooner, and never once it is stopped', async () => {
  const client = open()
  const states: State['status'][] = []
  client.subscribe(({ status }) => states.push(status))
  expect(client.state().status).toBe('starting')
  expect(await device.settle(client.start())).toMatchObject({ status: 'unlicensed' })
  await device.settle(device.wait(0))
  answers = ['no connection', 'no connection', 'no connection']
  await device.settle(device.wait(44_000_000))
  expect(asked.map(({ at }) => Math.floor(at / 1000))).toStrictEqual([0, 43_200, 43_200, 43_200, 43_231])
  client.stop()
  await device.settle(device.wait(90_000_000))
  expect(asked).toHaveLength(5)
  expect(states).toStrictEqual(['unlicensed', 'free'])
})

test('a trial starts at once, is reported, and follows what the server knows of the machine', async () => {
  const second = beginning / 1000
  answers = [
    'no connection',
    'no connection',
    'no connection',
    'no connection',
    'no connection',
    'no connection',
  ]
  const client = open({ defaultTrialDays: 10, machineHash: 'machine-hash-0001' })
  const outcome = await device.settle(client.startTrial())
  expect(outcome).toMatchObject({ ok: true, state: { status: 'trial' } })
  answers = [{ status: 200, body: `{"free_tier_enabled":false,"trial_started_at":${second - 86_400}}` }]
  expect(await device.settle(client.validate())).toStrictEqual({
    ok: true,
    state: { status: 'trial', until: second + 9 * 86_400, clockSetBack: false },
  })
  expect(asked.at(-1)).toMatchObject({
    path: '/acme/editor/keyless',
    body: { state: 'trial', machine_hash: 'machine-hash-0001' },
  })
  answers = [{ status: 200, body: '{"free_tier_enabled":false,"trial_already_used":true}' }]
  expect(await device.settle(client.validate())).toMatchObject({ state: { status: 'expired', of: 'trial' } })
})

test('a product without a trial has none to start', async () => {
  expect(await device.settle(open().startTrial())).toMatchObject({ ok: false, problem: { code: 'no_trial' } })
})

test('a storage that fails is reported, and the app goes on', async () => {
  const errors: unknown[] = []
  const broken = () => {
    throw new Error('disk full')
  }
  const client = open({
    storage: { read: broken, write: broken },
    onStorageError: (error: unknown) => errors.push(error),
  })
  expect(await device.settle(client.validate())).toMatchObject({ ok: true, state: { status: 'free' } })
  expect(errors.length).toBeGreaterThan(1)
})

test('two windows share a storage: one takes over what the other has stored', async () => {
  const kept = new Map<string, string>()
  const local = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
  }
  const [one, other] = [open({ storage: webStorage(local) }), open({ storage: webStorage(local) })]
  await device.settle(other.start())
  other.stop()
  await device.settle(other.validate())
  answers = [{ status: 200, body: '{"free_tier_enabled":false}' }]
  await device.settle(one.validate())
  expect(one.state().status).toBe('unlicensed')
  answers = ['no connection', 'no connection', 'no connection']
  expect(await device.settle(other.validate())).toMatchObject({ ok: false, state: { status: 'unlicensed' } })
  expect([...kept.keys()]).toStrictEqual(['keyledger'])
})

test('the version that it tells is that of the package', () => {
  expect(sdkVersion).toBe(packageJson.version)
})
