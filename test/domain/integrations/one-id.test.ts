/** One id of a provider is mapped to one product, beside the others that the product has. */
import { describe, test } from 'vitest'
import type { Credentials, IntegrationEvent } from '../../../src/domain/integrations/events.ts'
import {
  absentIntegration,
  decideIntegration,
  evolveIntegration,
  type IntegrationCommand,
} from '../../../src/domain/integrations/integration.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: absentIntegration, decide: decideIntegration, evolve: evolveIntegration })

const at = '2026-03-01T12:00:00.000Z'
const connectedTo = (provider: 'gumroad' | 'paddle', credentials: Credentials): IntegrationEvent => ({
  type: 'MarketplaceConnected',
  data: { tenantId: 'acme', provider, operationId: 'op-1', credentials, at },
})
const paddle = connectedTo('paddle', { webhookSecret: 'secret-1', apiKey: 'key-1', pingToken: null })
const connected = connectedTo('gumroad', {
  webhookSecret: null,
  apiKey: null,
  pingToken: { name: 'token-1', hash: 'a'.repeat(64) },
})
const mapped = (productId: string, ...permalinks: string[]): IntegrationEvent => ({
  type: 'ProductMapped',
  data: { productId, mapping: { permalinks }, at },
})

describe('one id of a provider', () => {
  const mapItem = (productId: string, item: string, keyTypeId = 'pro'): IntegrationCommand => ({
    type: 'MapItem',
    item,
    productId,
    keyTypeId,
    at,
  })
  const prices = (productId: string, entries: Record<string, string>): IntegrationEvent => ({
    type: 'ProductMapped',
    data: { productId, mapping: { prices: entries }, at },
  })

  test('is mapped beside those that its product has', () => {
    given(paddle)
      .when(mapItem('editor', 'pri_1'))
      .expectEvents([prices('editor', { pri_1: 'pro' })])
    given(paddle, prices('editor', { pri_1: 'pro' }))
      .when(mapItem('editor', 'pri_2', 'team'))
      .expectEvents([prices('editor', { pri_1: 'pro', pri_2: 'team' })])
    given(paddle, prices('editor', { pri_1: 'pro' }))
      .when(mapItem('editor', 'pri_1'))
      .expectEvents([])
  })

  test('leaves the product that it stood for', () => {
    given(paddle, prices('editor', { pri_1: 'pro', pri_2: 'pro' }))
      .when(mapItem('player', 'pri_1', 'solo'))
      .expectEvents([prices('editor', { pri_2: 'pro' }), prices('player', { pri_1: 'solo' })])
  })

  test('stands for a whole product at gumroad', () =>
    given(connected, mapped('editor', 'editor'))
      .when(mapItem('editor', 'https://acme.gumroad.com/l/plus'))
      .expectEvents([mapped('editor', 'editor', 'https://acme.gumroad.com/l/plus')]))

  test('is a payment link at the card provider', () => {
    const own = { tenantId: 'acme', operationId: 'op-1', apiKey: 'k', webhookSecret: 's', test: false, at }
    given({ type: 'CardKeyConnected', data: own })
      .when(mapItem('editor', 'plink_1'))
      .expectEvents([
        {
          type: 'ProductMapped',
          data: { productId: 'editor', mapping: { paymentLinks: { plink_1: 'pro' } }, at },
        },
      ])
  })

  test('is unmapped, and needs a connection', () => {
    given(paddle, prices('editor', { pri_1: 'pro', pri_2: 'pro' }))
      .when({ type: 'UnmapItem', item: 'pri_1', at })
      .expectEvents([prices('editor', { pri_2: 'pro' })])
    given(paddle).when({ type: 'UnmapItem', item: 'pri_1', at }).expectEvents([])
    given().when(mapItem('editor', 'pri_1')).expectRefusal('integration_not_connected')
  })
})
