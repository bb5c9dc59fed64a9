/**
 * A tenant's license events go to at most one URL, signed with one secret, or with two in the 24 hours after
 * a rotation. An operation changes the settings once, however often it is run.
 */
import { describe, expect, test } from 'vitest'
import {
  defaultEvents,
  type WebhookEvent,
  type WebhookEventName,
} from '../../../src/domain/webhooks/events.ts'
import {
  decideWebhook,
  evolveWebhook,
  noWebhook,
  type SetWebhook,
  secretsAt,
  takesWebhookSecret,
} from '../../../src/domain/webhooks/webhook.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: noWebhook, decide: decideWebhook, evolve: evolveWebhook })
const evolved = (...history: WebhookEvent[]) => history.reduce(evolveWebhook, noWebhook)

const at = '2026-03-01T12:00:00.000Z'
const dayLater = '2026-03-02T12:00:00.000Z'
const url = 'https://hooks.example.com/a'
const other = 'https://hooks.example.com/b'
const all: WebhookEventName[] = [...defaultEvents]

const set = (operationId: string, more: Partial<SetWebhook> = {}): SetWebhook => ({
  type: 'SetWebhook',
  operationId,
  tenantId: 'acme',
  url,
  events: undefined,
  rotateSecret: false,
  displaySecret: `whsec_…${operationId}`,
  at,
  ...more,
})
const remove = (operationId: string) => ({ type: 'RemoveWebhook', operationId, at }) as const
const configured = (operationId: string): WebhookEvent => ({
  type: 'WebhookConfigured',
  data: { tenantId: 'acme', operationId, url, events: all, displaySecret: `whsec_…${operationId}`, at },
})
const changed = (operationId: string, to: string, events = all): WebhookEvent => ({
  type: 'WebhookChanged',
  data: { operationId, url: to, events, at },
})
const rotated = (operationId: string): WebhookEvent => ({
  type: 'WebhookSecretRotated',
  data: { operationId, displaySecret: `whsec_…${operationId}`, formerValidUntil: dayLater, at },
})
const removed = (operationId: string): WebhookEvent => ({ type: 'WebhookRemoved', data: { operationId, at } })

describe('setting', () => {
  test('the first time selects every event and creates a secret', () =>
    given()
      .when(set('1'))
      .expectEvents([configured('1')]))

  test('another URL, or other events, changes those and keeps the secret', () => {
    given(configured('1'))
      .when(set('2', { url: other }))
      .expectEvents([changed('2', other)])
    given(configured('1'))
      .when(set('2', { events: ['license.created'] }))
      .expectEvents([changed('2', url, ['license.created'])])
  })

  test('events are a set, in one order', () =>
    given(configured('1'))
      .when(set('2', { events: ['license.revoked', 'license.created', 'license.revoked'] }))
      .expectEvents([changed('2', url, ['license.created', 'license.revoked'])]))

  test('without events keeps those that were chosen', () => {
    const chosen = changed('2', url, ['license.created'])
    given(configured('1'), chosen).when(set('3')).expectEvents([])
    given(configured('1'), chosen)
      .when(set('3', { url: other }))
      .expectEvents([changed('3', other, ['license.created'])])
  })

  test('the present settings record nothing', () =>
    given(configured('1'))
      .when(set('2', { events: all }))
      .expectEvents([]))

  test('a rotation creates a secret, and keeps the former one for a day', () => {
    given(configured('1'))
      .when(set('2', { rotateSecret: true }))
      .expectEvents([rotated('2')])
    given(configured('1'))
      .when(set('2', { rotateSecret: true, url: other }))
      .expectEvents([changed('2', other), rotated('2')])
  })

  test('a rotation without a webhook is the first setting', () =>
    given()
      .when(set('1', { rotateSecret: true }))
      .expectEvents([configured('1')]))
})

describe('removing', () => {
  test('ends deliveries, and twice is once', () => {
    given(configured('1'))
      .when(remove('2'))
      .expectEvents([removed('2')])
    given(configured('1'), removed('2')).when(remove('3')).expectEvents([])
    given().when(remove('1')).expectEvents([])
  })

  test('allows new settings with another secret', () =>
    given(configured('1'), removed('2'))
      .when(set('3'))
      .expectEvents([configured('3')]))
})

describe('an operation that is run again', () => {
  test.each<[string, WebhookEvent[], Parameters<typeof decideWebhook>[1]]>([
    ['set', [configured('1')], set('1')],
    ['set, and removed since', [configured('1'), removed('2')], set('1')],
    ['set, and set otherwise since', [configured('1'), changed('2', other)], set('1')],
    ['rotated', [configured('1'), rotated('2')], set('2', { rotateSecret: true })],
    [
      'rotated, and again since',
      [configured('1'), rotated('2'), rotated('3')],
      set('2', { rotateSecret: true }),
    ],
    ['removed, and set since', [configured('1'), removed('2'), configured('3')], remove('2')],
  ])('having %s changes nothing', (_, history, command) =>
    given(...history)
      .when(command)
      .expectEvents([]),
  )
})

test.each<[WebhookEvent[], SetWebhook, boolean]>([
  [[], set('1'), true],
  [[configured('1')], set('2'), false],
  [[configured('1')], set('2', { rotateSecret: true }), true],
  [[configured('1')], set('1', { rotateSecret: true }), false],
  [[configured('1'), removed('2')], set('3'), true],
])('a secret is asked for exactly when one is put in place (%#)', (history, command, takes) => {
  const webhook = evolved(...history)
  expect(takesWebhookSecret(webhook, command)).toBe(takes)
  const brings = decideWebhook(webhook, command).some((event) => 'displaySecret' in event.data)
  expect(brings).toBe(takes)
})

describe('the secrets of a moment', () => {
  const secret = (operationId: string) => ({ operationId, displaySecret: `whsec_…${operationId}` })
  const justBefore = '2026-03-02T11:59:59.999Z'

  test.each<[string, WebhookEvent[], string, string[]]>([
    ['none without settings', [], at, []],
    ['the only one', [configured('1')], at, ['1']],
    ['both after a rotation, the new one first', [configured('1'), rotated('2')], at, ['2', '1']],
    ['both to the last moment of the day', [configured('1'), rotated('2')], justBefore, ['2', '1']],
    ['the new one alone from then on', [configured('1'), rotated('2')], dayLater, ['2']],
    ['never more than two', [configured('1'), rotated('2'), rotated('3')], at, ['3', '2']],
    ['none once removed', [configured('1'), rotated('2'), removed('3')], at, []],
    ['the new one after a new beginning', [configured('1'), removed('2'), configured('3')], at, ['3']],
  ])('are %s', (_, history, moment, ids) =>
    expect(secretsAt(evolved(...history), moment)).toStrictEqual(ids.map(secret)),
  )
})

test('events of absent settings are applied without an error', () => {
  for (const event of [changed('1', url), rotated('1'), removed('1')]) {
    expect(evolveWebhook(noWebhook, event)).toStrictEqual({ ...noWebhook, operationIds: ['1'] })
  }
})
