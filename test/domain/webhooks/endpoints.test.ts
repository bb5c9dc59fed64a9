/**
 * A tenant has at most ten endpoints, each with its own URL, events, secret, pause and description. The events of
 * `/v1/webhook` are those of the first one.
 */
import { expect, test } from 'vitest'
import { maxEndpoints } from '../../../src/domain/webhooks/endpoint.ts'
import { defaultEvents, type WebhookEvent } from '../../../src/domain/webhooks/events.ts'
import {
  decideWebhook,
  evolveWebhook,
  firstEndpoint,
  noWebhook,
  secretsAt,
  type WebhookCommand,
} from '../../../src/domain/webhooks/webhook.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: noWebhook, decide: decideWebhook, evolve: evolveWebhook })
const evolved = (...history: WebhookEvent[]) => history.reduce(evolveWebhook, noWebhook)

const at = '2026-03-01T12:00:00.000Z'
const dayLater = '2026-03-02T12:00:00.000Z'
const url = 'https://hooks.example.com/a'
const all = [...defaultEvents]

const configured: WebhookEvent = {
  type: 'WebhookConfigured',
  data: { tenantId: 'acme', operationId: '1', url, events: all, displaySecret: 'whsec_…1', at },
}
const add = (operationId: string): WebhookCommand => ({
  type: 'AddEndpoint',
  operationId,
  tenantId: 'acme',
  endpointId: `whe_${operationId}`,
  url,
  events: ['license.revoked', 'license.created'],
  description: 'Fulfillment',
  ordering: 'license',
  displaySecret: `whsec_…${operationId}`,
  at,
})
const added = (operationId: string, endpointId = `whe_${operationId}`): WebhookEvent => ({
  type: 'WebhookEndpointAdded',
  data: {
    tenantId: 'acme',
    operationId,
    endpointId,
    url,
    events: ['license.created', 'license.revoked'],
    description: 'Fulfillment',
    displaySecret: `whsec_…${operationId}`,
    at,
  },
})
const change = (operationId: string, more: object, endpointId = 'whe_2'): WebhookCommand => ({
  type: 'ChangeEndpoint',
  operationId,
  endpointId,
  ...more,
  at,
})
const about = (operationId: string, endpointId = 'whe_2') => ({ operationId, endpointId, at })
const paused: WebhookEvent = { type: 'WebhookEndpointPaused', data: about('3') }
const removed: WebhookEvent = { type: 'WebhookEndpointRemoved', data: about('3') }
const rotated: WebhookEvent = {
  type: 'WebhookEndpointSecretRotated',
  data: { ...about('3'), displaySecret: 'whsec_…3', formerValidUntil: dayLater },
}
const ten = Array.from({ length: maxEndpoints }, (_, n) => added(`n${n}`))

test('the first endpoint that a tenant ever adds is that of /v1/webhook; later ones are others', () => {
  given()
    .when(add('2'))
    .expectEvents([added('2', 'first')])
  given(configured)
    .when(add('2'))
    .expectEvents([added('2')])
  given(configured, { type: 'WebhookRemoved', data: { operationId: '4', at } })
    .when(add('2'))
    .expectEvents([added('2')])
})

test('a tenant has at most ten', () => {
  given(...ten)
    .when(add('2'))
    .expectRefusal('webhook_endpoint_limit')
  given(...ten, { type: 'WebhookEndpointRemoved', data: about('4', 'whe_n3') })
    .when(add('2'))
    .expectEvents([added('2')])
})

test('a change records what changes, and nothing when nothing does', () => {
  given(added('2'))
    .when(change('3', { description: 'CRM' }))
    .expectEvents([
      {
        type: 'WebhookEndpointChanged',
        data: { ...about('3'), url, events: ['license.created', 'license.revoked'], description: 'CRM' },
      },
    ])
  given(added('2'))
    .when(change('3', { paused: true }))
    .expectEvents([paused])
  given(added('2'), paused)
    .when(change('4', { paused: true, description: 'Fulfillment' }))
    .expectEvents([])
  given(added('2'), paused)
    .when(change('4', { paused: false }))
    .expectEvents([{ type: 'WebhookEndpointResumed', data: about('4') }])
})

test('events come in order for each license, unless the endpoint chooses speed', () => {
  const orderingAfter = (...history: WebhookEvent[]) =>
    evolved(...history).endpoints.map(({ ordering }) => ordering)
  expect(orderingAfter(configured, added('2'))).toStrictEqual(['license', 'license'])
  const fast = added('2')
  const chosen = { ...fast, data: { ...fast.data, ordering: 'none' } } as WebhookEvent
  given(configured)
    .when({ ...add('2'), ordering: 'none' } as WebhookCommand)
    .expectEvents([chosen])
  const data = {
    ...about('3'),
    url,
    events: ['license.created', 'license.revoked'],
    description: 'Fulfillment',
  }
  const back = { type: 'WebhookEndpointChanged', data } as WebhookEvent
  const to = (ordering: 'license' | 'none') => change('3', { ordering })
  given(configured, chosen).when(to('none')).expectEvents([])
  given(configured, chosen)
    .when(change('3', { paused: true }))
    .expectEvents([paused])
  given(configured, chosen).when(to('license')).expectEvents([back])
  expect(orderingAfter(configured, chosen)).toStrictEqual(['license', 'none'])
  expect(orderingAfter(configured, chosen, back)).toStrictEqual(['license', 'license'])
})

test('/v1/webhook keeps the ordering of the first endpoint', () => {
  const about3 = { ...about('3', 'first'), url, events: all, description: '' }
  const fast = { type: 'WebhookEndpointChanged', data: { ...about3, ordering: 'none' } } as WebhookEvent
  given(configured)
    .when(change('3', { ordering: 'none' }, 'first'))
    .expectEvents([fast])
  const moved = {
    type: 'WebhookChanged',
    data: { operationId: '4', url: `${url}2`, events: all, at },
  } as const
  expect(firstEndpoint(evolved(configured, fast, moved))).toMatchObject({ url: `${url}2`, ordering: 'none' })
})

test('one endpoint changes alone', () => {
  const before = evolved(configured, added('2'))
  const after = [paused, rotated].reduce(evolveWebhook, before)
  expect(firstEndpoint(after)).toStrictEqual(firstEndpoint(before))
  expect(after.endpoints[1]).toMatchObject({ pausedAt: at, secret: { operationId: '3' } })
  expect(evolveWebhook(after, removed).endpoints).toStrictEqual([firstEndpoint(before)])
})

test('every endpoint signs with its own secrets', () =>
  expect(
    secretsAt(evolved(configured, added('2'), rotated), at).map(({ operationId }) => operationId),
  ).toStrictEqual(['1', '3', '2']))

test('the first endpoint can be paused and described, and set and removed as before', () => {
  given(configured)
    .when(change('3', { paused: true }, 'first'))
    .expectEvents([{ type: 'WebhookEndpointPaused', data: about('3', 'first') }])
  given(configured, added('2'))
    .when({ type: 'RemoveWebhook', operationId: '4', at })
    .expectEvents([{ type: 'WebhookRemoved', data: { operationId: '4', at } }])
})

test.each<WebhookCommand>([
  change('3', { paused: true }),
  { type: 'RotateEndpointSecret', ...about('3'), displaySecret: 'whsec_…3' },
  { type: 'RemoveEndpoint', ...about('3') },
])('an endpoint that is not there is refused: $type', (command) =>
  given(configured).when(command).expectRefusal('webhook_endpoint_not_found'),
)

test.each<[WebhookEvent[], WebhookCommand]>([
  [[configured, added('2'), removed], add('2')],
  [[configured, added('2'), rotated], { type: 'RotateEndpointSecret', ...about('3'), displaySecret: 'x' }],
  [[configured, added('2'), removed], { type: 'RemoveEndpoint', ...about('3') }],
])('an operation that is run again changes nothing (%#)', (history, command) =>
  given(...history)
    .when(command)
    .expectEvents([]),
)
