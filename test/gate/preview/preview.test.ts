/**
 * Guarantee: what a dry run names is what the operation then changes, in any state; and a dry run records nothing.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { Effect, type Fact } from '../../../src/gate/effects/effect.ts'
import { type Method, openTestApi, type TestApi } from '../../harness/api.ts'
import { askApproveRepeat } from '../../harness/gate.ts'
import { differences, observe } from './observed.ts'
import { makeWorld, recordEnds, type World, type WorldPlan, worldPlan } from './world.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const DryRun = z.object({
  dryRun: z.literal(true),
  wouldBeRefused: z.object({ status: z.int(), error: z.string() }).nullable(),
  effect: Effect,
  sentences: z.array(z.string()),
})
type DryRun = z.infer<typeof DryRun>

type Call = { method: Method; url: string; body?: unknown; ungated?: true }
type Make = (world: World, plan: WorldPlan) => Call

const licenseCall =
  (action: string, body?: unknown): Make =>
  ({ licenseIds: [id] }) => ({ method: 'POST', url: `/v1/licenses/${id}/${action}`, body })

const calls: Record<string, Make> = {
  revoke: licenseCall('revoke'),
  reinstate: licenseCall('reinstate'),
  reseat: licenseCall('reseat-device', { deviceId: 'device-0' }),
  takeBack: licenseCall('take-back-import'),
  deleteSpareKeyType: () => ({ method: 'DELETE', url: '/v1/products/editor/key-types/spare' }),
  deleteKeyType: () => ({ method: 'DELETE', url: '/v1/products/editor/key-types/pro' }),
  changeKeyType: (_, { change }) => ({
    method: 'PATCH',
    url: '/v1/products/editor/key-types/pro',
    body: change,
    ungated: true,
  }),
  eraseCustomer: ({ customerId }) => ({ method: 'DELETE', url: `/v1/customers/${customerId}` }),
  revokeToken: ({ spareToken }) => ({ method: 'POST', url: `/v1/tokens/${spareToken.id}/revoke` }),
  showSdkKey: () => ({ method: 'GET', url: '/v1/sdk-key' }),
  rotateSdkKey: () => ({ method: 'POST', url: '/v1/sdk-key/rotate' }),
  setWebhook: () => ({
    method: 'PUT',
    url: '/v1/webhook',
    body: { url: 'https://public.example.com/other', events: ['license.revoked'], rotateSecret: true },
  }),
  removeWebhook: () => ({ method: 'PUT', url: '/v1/webhook', body: { url: null } }),
  addEndpoint: () => ({
    method: 'POST',
    url: '/v1/webhook-endpoints',
    body: { url: 'https://public.example.com/more' },
  }),
  changeEndpoint: () => ({
    method: 'PATCH',
    url: '/v1/webhook-endpoints/first',
    body: { url: 'https://public.example.com/moved', paused: true },
  }),
  pauseEndpoint: () => ({
    method: 'PATCH',
    url: '/v1/webhook-endpoints/first',
    body: { paused: true, events: ['license.revoked', 'license.expired'] },
    ungated: true,
  }),
  speedUpEndpoint: () => ({
    method: 'PATCH',
    url: '/v1/webhook-endpoints/first',
    body: { ordering: 'none' },
    ungated: true,
  }),
  rotateEndpoint: () => ({ method: 'POST', url: '/v1/webhook-endpoints/first/rotate-secret' }),
  deleteEndpoint: () => ({ method: 'DELETE', url: '/v1/webhook-endpoints/first' }),
}

test.each(Object.entries(calls))('%s changes what its dry run named', async (_, make) => {
  const property = fc.asyncProperty(worldPlan, async (plan) => {
    const world = await makeWorld(api, plan)
    const call = make(world, plan)
    const head = await api.ledger.ports.ledger.head()
    const before = await observe(api, world)
    const asked = await api.ask(call.method, `${call.url}?dryRun=true`, {
      token: world.tenant.token,
      body: call.body,
    })
    expect(await api.ledger.ports.ledger.head()).toBe(head)
    expect(await observe(api, world)).toStrictEqual(before)
    if (asked.status === 404) {
      expect((await send(world, call)).status).toBe(404)
      return
    }
    const preview = DryRun.parse(asked.body)
    const answer = await send(world, call)
    if (preview.wouldBeRefused) {
      const { status, error } = preview.wouldBeRefused
      expect({ status: answer.status, body: answer.body }).toStrictEqual({ status, body: { error } })
      expect(await observe(api, world)).toStrictEqual(before)
      return
    }
    expect(answer.status).toBe(200)
    await recordEnds(api, world.licenseIds)
    expectNamed(preview, differences(before, await observe(api, world)))
  })
  await fc.assert(property, { numRuns: 6 })
})

const send = ({ tenant }: World, { method, url, body, ungated }: Call) =>
  ungated
    ? api.ask(method, url, { token: tenant.token, body })
    : api
        .ask(method, url, { token: tenant.token, body })
        .then((first) =>
          first.status === 202 ? askApproveRepeat(api, tenant, method, url, { body }) : first,
        )

/** The preview has exactly what is different, and no list of it is cut. */
function expectNamed({ effect }: DryRun, changed: ReturnType<typeof differences>): void {
  const seats = (devices: Effect['devicesLosing']) =>
    devices.first.map(({ licenseId, deviceId }) => ({ licenseId, deviceId }))
  const named = (list: Effect['entitlementsAppearing']) =>
    list.map(({ entitlement, licenses }) => [entitlement, licenses.count])
  const about = (facts: readonly Fact[], what: Fact['what']) => facts.filter((fact) => fact.what === what)
  const { also } = effect
  const erased = also.find((fact) => fact.what === 'person_erased')
  expect({
    statuses: effect.licenses.first,
    losing: seats(effect.devicesLosing),
    gaining: seats(effect.devicesGaining),
    appearing: named(effect.entitlementsAppearing),
    disappearing: named(effect.entitlementsDisappearing),
    calls: effect.webhooks
      .map(({ event, endpointId, count }) => [`${event} ${endpointId}`, count])
      .toSorted(([left], [right]) => (String(left) < String(right) ? -1 : 1)),
    erased: erased?.licenses.count ?? 0,
    endpoints: endpointWords(also),
    keyTypesGone: also.flatMap((fact) => (fact.what === 'key_type_deleted' ? [fact.keyTypeId] : [])),
    deviceLimits: also.flatMap((fact) =>
      fact.what === 'key_type_changed'
        ? fact.newLicenses
            .filter(({ field }) => field === 'deviceLimit')
            .map(({ to }) => ({ keyTypeId: fact.keyTypeId, deviceLimit: to }))
        : [],
    ),
    sdkKey: about(also, 'sdk_key_replaced').length > 0 ? 'replaced' : created(also),
    tokenStops: also.some((fact) => fact.what === 'token_revoked' && fact.worked),
  }).toStrictEqual(changed)
  expect(effect.licenses.count).toBe(changed.statuses.length)
  expect(effect.devicesLosing.count).toBe(changed.losing.length)
  expect(effect.devicesGaining.count).toBe(changed.gaining.length)
}

const created = (also: readonly Fact[]): string =>
  also.some(({ what }) => what === 'sdk_key_created') ? 'created' : 'same'

const endpointWords = (also: readonly Fact[]): string[] =>
  also
    .flatMap((fact) => {
      switch (fact.what) {
        case 'endpoint_added':
          return ['added']
        case 'endpoint_changed':
          return [`changed ${fact.endpointId}`]
        case 'endpoint_removed':
          return [`removed ${fact.endpointId}`]
        case 'endpoint_secret_replaced':
          return [`secret ${fact.endpointId}`]
        default:
          return []
      }
    })
    .toSorted()
