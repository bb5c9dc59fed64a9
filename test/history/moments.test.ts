/**
 * For any history of a license: its state at a past moment is the one that was really answered then, recorded
 * while it ran; and the explanation agrees with the answer.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { replaceOverrides } from '../../src/commands/customers/overrides.ts'
import { revokeLicense } from '../../src/commands/licenses/licenses.ts'
import { undo } from '../../src/commands/licenses/undo.ts'
import { changeKeyType, changeProduct } from '../../src/commands/products.ts'
import { reinstateTenant, suspendTenant } from '../../src/commands/tenants.ts'
import { newId } from '../../src/credentials/id.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { commandLicense, origin } from '../harness/ledger.ts'
import { testMs } from '../harness/time-limits.ts'
import { wholeVariable } from '../harness/variables.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const devices = ['a', 'b', 'c'] as const
const device = fc.constantFrom(...devices)
const day = 86_400_000

type Step =
  | { do: 'activate' | 'deactivate' | 'remove' | 'reseat'; device: string }
  | { do: 'remint'; keepDevices: boolean }
  | { do: 'entitle' | 'override'; entitlements: string[] }
  | { do: 'wait'; days: number }
  | { do: 'renew' | 'end' | 'revoke' | 'make good' | 'link' | 'suspend' | 'reinstate' | 'ask less often' }

const entitlements = fc.subarray(['export', 'sync'])
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'activate' as const,
        'activate' as const,
        'deactivate' as const,
        'remove' as const,
        'reseat' as const,
      ),
      device,
    }),
  },
  fc.record({ do: fc.constant('remint' as const), keepDevices: fc.boolean() }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('entitle' as const, 'override' as const),
      entitlements,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), days: fc.constantFrom(3, 11) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'renew' as const,
        'end' as const,
        'link' as const,
        'suspend' as const,
        'reinstate' as const,
        'ask less often' as const,
      ),
    }),
  },
  fc.record({ do: fc.constantFrom('revoke' as const, 'make good' as const) }),
)

const anyLife = fc.record({
  onExpiry: fc.constantFrom('expire', 'fallback'),
  steps: fc.array(anyStep, { minLength: 8, maxLength: 14, size: 'max' }),
})

const Told = z.looseObject({
  status: z.string().nullable(),
  because: z.string().min(1),
  events: z.array(z.looseObject({ sequence: z.int() })),
})
const Explained = z.object({
  explanation: z.looseObject({
    sequence: z.int(),
    validate: Told.extend({ entitlements: z.array(z.string()), expires_at: z.int().nullable() }),
    activate: Told,
  }),
})

type World = { tenant: TestTenant; id: string; key: string; customer: string }

const get = async ({ tenant }: World, url: string) => {
  const { status, body, text } = await api.ask('GET', url, { token: tenant.token })
  if (status !== 200) throw new Error(`${url} was answered ${status} ${text}`)
  return body
}

const explained = async (world: World, deviceId?: string, asOf?: string) => {
  const query = new URLSearchParams({ ...(deviceId && { device_id: deviceId }), ...(asOf && { asOf }) })
  const { explanation } = Explained.parse(await get(world, `/v1/licenses/${world.id}/explain?${query}`))
  const { status, entitlements, expires_at } = explanation.validate
  return {
    validated: { status, entitlements, expires_at },
    activated: explanation.activate.status,
    explanation,
  }
}

const runtime = (world: World, call: string, deviceId?: string) =>
  api.ask('POST', `/v1/licenses/${call}`, {
    token: world.tenant.token,
    body: { product_id: 'editor', license_key: world.key, ...(deviceId && { device_id: deviceId }) },
  })

const Verdict = z.looseObject({
  status: z.string(),
  entitlements: z.array(z.string()),
  expires_at: z.int().nullable(),
})
const validated = async (world: World, deviceId?: string) => {
  const { status, entitlements, expires_at } = Verdict.parse(
    (await runtime(world, 'validate', deviceId)).body,
  )
  return { status, entitlements, expires_at }
}

async function begin(onExpiry: string): Promise<World> {
  const tenant = await makeTenant(api.ledger)
  const keyType = { name: 'Pro', keyTypeId: 'pro', deviceLimit: 2, duration: { count: 10, unit: 'day' } }
  const granted = { entitlements: ['export'], fallbackEntitlements: ['sync'] }
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ ...keyType, ...granted, onExpiry }] })
  const customer = await makeCustomer(api.ask, tenant.token)
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor', { email: 'ada@example.com' })
  return { tenant, id, key: licenseKey, customer }
}

const Reminted = z.looseObject({ licenseKey: z.string() })

async function live(world: World, step: Step): Promise<unknown> {
  const { ports, clock } = api.ledger
  const { tenantId, token } = world.tenant
  const at = clock.now().toISOString()
  const post = (path: string, body: object) =>
    api.ask('POST', `/v1/licenses/${world.id}/${path}`, { token, body })
  switch (step.do) {
    case 'activate': {
      const expected = await explained(world, step.device)
      const { status, body } = await runtime(world, 'activate', step.device)
      const told = status === 403 ? null : Verdict.parse(body).status
      return expect(told).toBe(expected.activated)
    }
    case 'deactivate':
      return runtime(world, 'deactivate', step.device)
    case 'remove':
      return post('deactivate-device', { deviceId: step.device })
    case 'reseat': {
      const cause = { ...origin, requestId: newId('req') }
      return undo(ports, tenantId, world.id, { type: 'reseat', deviceId: step.device }, cause)
    }
    case 'make good': {
      const cause = { ...origin, requestId: newId('req') }
      return undo(ports, tenantId, world.id, { type: 'reinstate', reason: null }, cause)
    }
    case 'remint': {
      const { status, body } = await post('remint', { keepDevices: step.keepDevices })
      if (status === 200) world.key = Reminted.parse(body).licenseKey
      return undefined
    }
    case 'entitle': {
      const change = { entitlements: step.entitlements, deviceLimit: 3 }
      return changeKeyType(ports, tenantId, 'editor', 'pro', change, origin)
    }
    case 'override': {
      const overrides = step.entitlements.map((entitlement) => ({ entitlement, effect: 'revoke' as const }))
      return replaceOverrides(ports, tenantId, world.customer, overrides, origin)
    }
    case 'wait':
      return clock.advance(step.days * day)
    case 'renew': {
      const expiresAt = new Date(clock.now().getTime() + 10 * day).toISOString()
      return commandLicense(api.ledger, world.id, { type: 'RenewLicense', expiresAt, at })
    }
    case 'end':
      return commandLicense(api.ledger, world.id, { type: 'EndPaidPeriod', at })
    case 'revoke':
      return revokeLicense(ports, tenantId, world.id, 'because', origin)
    case 'link': {
      const body = { licenseId: world.id }
      return api.ask('POST', `/v1/customers/${world.customer}/link-license`, { token, body })
    }
    case 'suspend':
      return suspendTenant(ports, tenantId, null, origin)
    case 'reinstate':
      return reinstateTenant(ports, tenantId, origin)
    case 'ask less often':
      return changeProduct(ports, tenantId, 'editor', { settings: { revalidateAfterSeconds: 60 } }, origin)
  }
}

const reads = ({ id, customer }: World) => [
  `/v1/licenses/${id}`,
  `/v1/customers/${customer}`,
  '/v1/products/editor',
]

type Recording = {
  moment: string
  sequence: number
  changed: boolean
  answers: Awaited<ReturnType<typeof validated>>[]
  activations: (string | null)[]
  shown: unknown[]
}

/** The real answers now; the explanation must agree. */
async function recorded(world: World, before: number): Promise<Recording> {
  const asked = [...devices, undefined]
  const answers = await Promise.all(asked.map((deviceId) => validated(world, deviceId)))
  const explanations = await Promise.all(asked.map((deviceId) => explained(world, deviceId)))
  expect(explanations.map((explanation) => explanation.validated)).toStrictEqual(answers)
  const sequence = explanations[0]?.explanation.sequence ?? -1
  return {
    moment: api.ledger.clock.now().toISOString(),
    sequence,
    changed: sequence > before,
    answers,
    activations: explanations.map(({ activated }) => activated),
    shown: await Promise.all(reads(world).map((url) => get(world, url))),
  }
}

/** The same, asked later for that moment. */
async function expectThen(world: World, recording: Recording, asOf: string): Promise<void> {
  const then = await Promise.all([...devices, undefined].map((deviceId) => explained(world, deviceId, asOf)))
  expect(then.map((explanation) => explanation.validated)).toStrictEqual(recording.answers)
  expect(then.map(({ activated }) => activated)).toStrictEqual(recording.activations)
  expect(then[0]?.explanation.sequence).toBe(recording.sequence)
}

const lives = wholeVariable('KEYLEDGER_TEST_LIVES', 3)

test(`every moment of ${lives} lives is told as it was`, { timeout: testMs + lives * 10_000 }, () =>
  fc.assert(
    fc.asyncProperty(anyLife, async ({ onExpiry, steps }) => {
      const world = await begin(onExpiry)
      const recordings = [await recorded(world, -1)]
      for (const step of steps) {
        api.ledger.clock.advance(1)
        await live(world, step).catch((error: unknown) => {
          if (!(error instanceof Error && error.name === 'Refusal')) throw error
        })
        recordings.push(await recorded(world, recordings.at(-1)?.sequence ?? -1))
      }
      api.ledger.clock.advance(1000)
      for (const recording of recordings) {
        const { moment, sequence, changed, shown } = recording
        await expectThen(world, recording, moment)
        if (changed) await expectThen(world, recording, String(sequence))
        const then = await Promise.all(reads(world).map((url) => get(world, `${url}?asOf=${moment}`)))
        expect(then).toStrictEqual(shown)
      }
    }),
    { numRuns: lives, endOnFailure: true },
  ),
)
