/**
 * A provider is connected once; an operation is carried out once; an id is mapped to one product only; and
 * every replaced secret is listed for destruction.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Credentials, IntegrationEvent } from '../../../src/domain/integrations/events.ts'
import {
  absentIntegration,
  decideIntegration,
  evolveIntegration,
  type IntegrationCommand,
} from '../../../src/domain/integrations/integration.ts'
import { nameOf, soldIds, targetsOf } from '../../../src/domain/integrations/mapping.ts'
import { kindOf, Provider } from '../../../src/domain/integrations/provider.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: absentIntegration, decide: decideIntegration, evolve: evolveIntegration })

const at = '2026-03-01T12:00:00.000Z'
const later = '2026-03-02T12:00:00.000Z'
const hash = 'a'.repeat(64)
const none: Credentials = { webhookSecret: null, apiKey: null, pingToken: null }
const ping = (name: string): Credentials => ({ ...none, pingToken: { name, hash } })

const gumroad = {
  tenantId: 'acme',
  provider: 'gumroad',
  operationId: 'op-1',
  credentials: ping('token-1'),
} as const
const connect = { type: 'ConnectMarketplace', ...gumroad, at } as const
const connected: IntegrationEvent = { type: 'MarketplaceConnected', data: { ...gumroad, at } }
const disconnected: IntegrationEvent = { type: 'IntegrationDisconnected', data: { at: later } }
const paddleCredentials: Credentials = { webhookSecret: 'secret-1', apiKey: 'key-1', pingToken: null }
const paddle: IntegrationEvent = {
  type: 'MarketplaceConnected',
  data: { tenantId: 'acme', provider: 'paddle', operationId: 'op-1', credentials: paddleCredentials, at },
}
const mapped = (productId: string, ...permalinks: string[]): IntegrationEvent => ({
  type: 'ProductMapped',
  data: { productId, mapping: { permalinks }, at },
})
const map = (productId: string, ...permalinks: string[]): IntegrationCommand => ({
  type: 'MapProduct',
  productId,
  mapping: { permalinks },
  at,
})

describe('a marketplace', () => {
  test('is connected with its credentials', () => given().when(connect).expectEvents([connected]))

  test('that is connected cannot be connected again', () =>
    given(connected)
      .when({ ...connect, operationId: 'op-2' })
      .expectRefusal('integration_connected'))

  test('is connected once by one operation, even after a disconnection', () => {
    given(connected).when(connect).expectEvents([])
    given(connected, disconnected).when(connect).expectEvents([])
  })

  test('can be connected again after it was disconnected', () => {
    const again = { ...connect, operationId: 'op-2', credentials: ping('token-2') }
    const { type: _, ...data } = again
    given(connected, disconnected)
      .when(again)
      .expectEvents([{ type: 'MarketplaceConnected', data }])
  })

  test('is disconnected once; without a connection nothing changes', () => {
    const disconnect: IntegrationCommand = { type: 'Disconnect', at: later }
    given(connected).when(disconnect).expectEvents([disconnected])
    given(connected, disconnected).when(disconnect).expectEvents([])
    given().when(disconnect).expectEvents([])
  })
})

describe('an own account at the card provider', () => {
  const own = {
    tenantId: 'acme',
    operationId: 'op-1',
    apiKey: 'key-1',
    webhookSecret: 'secret-1',
    test: false,
    at,
  } as const
  const connectKey: IntegrationCommand = { type: 'ConnectCardKey', ...own }
  const keyConnected: IntegrationEvent = { type: 'CardKeyConnected', data: own }
  const onboarding: IntegrationEvent = {
    type: 'CardOnboardingStarted',
    data: { tenantId: 'acme', accountId: 'acct_1', at },
  }
  const accountConnected: IntegrationEvent = {
    type: 'CardAccountConnected',
    data: { accountId: 'acct_1', at },
  }

  test('is connected with its key, also while an onboarding waits', () => {
    given().when(connectKey).expectEvents([keyConnected])
    given(onboarding).when(connectKey).expectEvents([keyConnected])
  })

  test('is connected once by one operation, and not beside another connection', () => {
    given(keyConnected).when(connectKey).expectEvents([])
    given(keyConnected, disconnected).when(connectKey).expectEvents([])
    const another = { ...connectKey, operationId: 'op-2' }
    given(keyConnected).when(another).expectRefusal('integration_connected')
    given(onboarding, accountConnected).when(connectKey).expectRefusal('integration_connected')
    given(keyConnected)
      .when({ type: 'StartOnboarding', tenantId: 'acme', accountId: 'acct_1', at })
      .expectRefusal('integration_connected')
  })

  test('ends an onboarding, whose return finishes nothing any more', () =>
    given(onboarding, keyConnected)
      .when({ type: 'FinishOnboarding', accountId: 'acct_1', at })
      .expectRefusal('integration_not_connected'))

  test('has secrets that a rotation and a disconnection retire', () => {
    const rotated: IntegrationEvent = {
      type: 'WebhookSecretRotated',
      data: { operationId: 'op-2', webhookSecret: 'secret-2', at },
    }
    given(keyConnected)
      .when({ type: 'RotateWebhookSecret', ...rotated.data })
      .expectEvents([rotated])
    expect([keyConnected, rotated, disconnected].reduce(evolveIntegration, absentIntegration)).toMatchObject({
      status: 'disconnected',
      ownAccount: null,
      credentials: none,
      retired: ['secret-1', 'secret-2', 'key-1'],
    })
  })

  test('can be replaced by an account of the platform', () =>
    expect(
      [keyConnected, disconnected, onboarding, accountConnected].reduce(evolveIntegration, absentIntegration),
    ).toMatchObject({ status: 'connected', accountId: 'acct_1', ownAccount: null }))
})

describe('a secret', () => {
  const rotatePing = {
    type: 'RotatePingToken',
    operationId: 'op-2',
    pingToken: { name: 'token-2', hash },
    at: later,
  } as const
  const rotateSecret = {
    type: 'RotateWebhookSecret',
    operationId: 'op-2',
    webhookSecret: 'secret-2',
    at: later,
  } as const
  const state = (...events: IntegrationEvent[]) => events.reduce(evolveIntegration, absentIntegration)

  test('is replaced, and the former one listed for destruction', () => {
    const { type: _, ...pingData } = rotatePing
    const pingRotated: IntegrationEvent = { type: 'PingTokenRotated', data: pingData }
    given(connected).when(rotatePing).expectEvents([pingRotated])
    expect(state(connected, pingRotated)).toMatchObject({
      credentials: ping('token-2'),
      retired: ['token-1'],
      operationIds: ['op-1', 'op-2'],
    })
    const { type: __, ...secretData } = rotateSecret
    const secretRotated: IntegrationEvent = { type: 'WebhookSecretRotated', data: secretData }
    given(paddle).when(rotateSecret).expectEvents([secretRotated])
    expect(state(paddle, secretRotated)).toMatchObject({
      credentials: { ...paddleCredentials, webhookSecret: 'secret-2' },
      retired: ['secret-1'],
    })
    expect(state(paddle, secretRotated, disconnected)).toMatchObject({
      status: 'disconnected',
      credentials: none,
      retired: ['secret-1', 'secret-2', 'key-1'],
    })
  })

  test.each([rotatePing, rotateSecret])('is replaced once by one operation: $type', (rotate) => {
    const before = rotate === rotatePing ? connected : paddle
    const [event] = decideIntegration(state(before), rotate)
    expect(event).toBeDefined()
    if (event) given(before, event).when(rotate).expectEvents([])
    if (event) given(before, event, disconnected).when(rotate).expectEvents([])
  })

  test.each([rotatePing, rotateSecret])('is not replaced without a connection: $type', (rotate) => {
    given().when(rotate).expectRefusal('integration_not_connected')
    given(connected, disconnected).when(rotate).expectRefusal('integration_not_connected')
  })
})

describe('the card account', () => {
  const started: IntegrationEvent = {
    type: 'CardOnboardingStarted',
    data: { tenantId: 'acme', accountId: 'acct_1', at },
  }
  const finished: IntegrationEvent = {
    type: 'CardAccountConnected',
    data: { accountId: 'acct_1', at: later },
  }
  const start = { type: 'StartOnboarding', tenantId: 'acme', accountId: 'acct_1', at } as const
  const finish = { type: 'FinishOnboarding', accountId: 'acct_1', at: later } as const

  test('is connected when its onboarding has ended', () => {
    given().when(start).expectEvents([started])
    given(started).when(finish).expectEvents([finished])
  })

  test('begins once, and ends once', () => {
    given(started).when(start).expectEvents([])
    given(started, finished).when(finish).expectEvents([])
    given(started, finished).when(start).expectRefusal('integration_connected')
  })

  test('can be another one while the onboarding lasts', () => {
    const other = { ...start, accountId: 'acct_2' }
    const { type: _, ...data } = other
    given(started)
      .when(other)
      .expectEvents([{ type: 'CardOnboardingStarted', data }])
  })

  test('is connected only by its own onboarding', () => {
    given().when(finish).expectRefusal('integration_not_connected')
    given(started)
      .when({ ...finish, accountId: 'acct_2' })
      .expectRefusal('integration_not_connected')
    given(started, disconnected).when(finish).expectRefusal('integration_not_connected')
  })

  test('is kept at a disconnection, to be used again', () => {
    const state = [started, finished, disconnected].reduce(evolveIntegration, absentIntegration)
    expect(state).toMatchObject({ status: 'disconnected', accountId: 'acct_1', connectedAt: null })
    given(started, finished, disconnected).when(start).expectEvents([started])
  })
})

describe('a mapping', () => {
  test('is recorded as it was given', () =>
    given(connected)
      .when(map('editor', 'abc'))
      .expectEvents([mapped('editor', 'abc')]))

  test('that exists already, or is empty where none exists, records nothing', () => {
    given(connected, mapped('editor', 'abc')).when(map('editor', 'abc')).expectEvents([])
    given(connected).when(map('editor')).expectEvents([])
  })

  test('that is empty removes the mapping', () => {
    given(connected, mapped('editor', 'abc'))
      .when(map('editor'))
      .expectEvents([mapped('editor')])
    const state = [connected, mapped('editor', 'abc'), mapped('editor')].reduce(
      evolveIntegration,
      absentIntegration,
    )
    expect(state).toMatchObject({ mappings: [] })
  })

  test("cannot hold another product's id, in any spelling", () => {
    const taken = given(connected, mapped('editor', 'abc'))
    taken.when(map('player', 'xyz', 'abc')).expectRefusal('mapping_taken')
    taken.when(map('player', 'https://acme.gumroad.com/l/abc?wanted=true')).expectRefusal('mapping_taken')
    taken.when(map('player', 'abcd')).expectEvents([mapped('player', 'abcd')])
  })

  test('may hold an id that another product no longer has', () =>
    given(connected, mapped('editor', 'abc'), mapped('editor', 'def'))
      .when(map('player', 'abc'))
      .expectEvents([mapped('player', 'abc')]))

  test('outlives a disconnection, and is changed only while connected', () => {
    const state = [connected, mapped('editor', 'abc'), disconnected].reduce(
      evolveIntegration,
      absentIntegration,
    )
    expect(state).toMatchObject({ mappings: [{ productId: 'editor', mapping: { permalinks: ['abc'] } }] })
    given(connected, mapped('editor', 'abc'), disconnected)
      .when(map('editor', 'def'))
      .expectRefusal('integration_not_connected')
    given().when(map('editor', 'abc')).expectRefusal('integration_not_connected')
  })

  test.each([
    ['abc', 'abc'],
    ['https://gum.co/abc', 'abc'],
    ['https://acme.gumroad.com/l/abc/', 'abc'],
    ['https://acme.gumroad.com/l/abc?a=b#c', 'abc'],
    ['/', ''],
    ['?abc', ''],
  ])('of %s is named %s', (permalink, name) => expect(nameOf(permalink)).toBe(name))

  test.each([
    [{ permalinks: ['https://gum.co/abc', 'def'] }, ['abc', 'def'], []],
    [{ variants: { '1': 'pro', '2': 'pro' } }, ['1', '2'], ['pro', 'pro']],
    [{ prices: { pri_1: 'team' } }, ['pri_1'], ['team']],
    [{ products: { b0c1: 'pro' } }, ['b0c1'], ['pro']],
  ])('%j is sold under %j and leads to %j', (mapping, ids, targets) => {
    expect(soldIds(mapping)).toStrictEqual(ids)
    expect(targetsOf(mapping)).toStrictEqual(targets)
  })

  test('of any history maps each id to one product', () => {
    const step = fc.record({
      productId: fc.constantFrom('editor', 'player', 'reader'),
      permalinks: fc.array(fc.constantFrom('a', 'b', 'https://gum.co/a', 'https://gum.co/c')),
    })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        let state = [connected].reduce(evolveIntegration, absentIntegration)
        for (const { productId, permalinks } of steps) {
          try {
            const events = decideIntegration(state, map(productId, ...permalinks))
            state = events.reduce(evolveIntegration, state)
          } catch {
            // A refusal records nothing.
          }
        }
        const all = state.status === 'absent' ? [] : state.mappings
        const owners = all.flatMap(({ productId, mapping }) =>
          [...new Set(soldIds(mapping))].map((id) => ({ id, productId })),
        )
        expect(new Set(owners.map(({ id }) => id)).size).toBe(owners.length)
      }),
    )
  })
})

test('there are one card provider and four marketplaces', () =>
  expect(Provider.options.map((provider) => [provider, kindOf(provider)])).toStrictEqual([
    ['stripe', 'card'],
    ['gumroad', 'marketplace'],
    ['lemonsqueezy', 'marketplace'],
    ['paddle', 'marketplace'],
    ['polar', 'marketplace'],
  ]))

test('the state accepts any sequence of events without an error', () => {
  const events = fc.constantFrom<IntegrationEvent>(
    connected,
    paddle,
    disconnected,
    mapped('editor', 'a'),
    { type: 'CardOnboardingStarted', data: { tenantId: 'acme', accountId: 'acct_1', at } },
    { type: 'CardAccountConnected', data: { accountId: 'acct_1', at } },
    { type: 'WebhookSecretRotated', data: { operationId: 'op-2', webhookSecret: 'secret-2', at } },
    { type: 'PingTokenRotated', data: { operationId: 'op-3', pingToken: { name: 'token-2', hash }, at } },
  )
  fc.assert(
    fc.property(fc.array(events), (history) => {
      const state = history.reduce(evolveIntegration, absentIntegration)
      expect(state.status === 'absent').toBe(
        !history.some(({ type }) => type === 'MarketplaceConnected' || type === 'CardOnboardingStarted'),
      )
    }),
  )
})
