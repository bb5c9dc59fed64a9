/** An id of a provider sells credits or licenses, never both, and each for one product. */
import { describe, expect, test } from 'vitest'
import { CreditPack, packSoldAs } from '../../../src/domain/integrations/credit-packs.ts'
import type { IntegrationEvent } from '../../../src/domain/integrations/events.ts'
import {
  absentIntegration,
  decideIntegration,
  evolveIntegration,
  type IntegrationCommand,
} from '../../../src/domain/integrations/integration.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: absentIntegration, decide: decideIntegration, evolve: evolveIntegration })
const at = '2026-03-01T12:00:00.000Z'
const credentials = { webhookSecret: 'secret-1', apiKey: null, pingToken: null }
const paddle: IntegrationEvent = {
  type: 'MarketplaceConnected',
  data: { tenantId: 'acme', provider: 'paddle', operationId: 'op-1', credentials, at },
}
const pack = { meter: 'minutes', amount: '500', days: 365 }
const packs = (productId: string, ...ids: string[]): IntegrationEvent => ({
  type: 'CreditPacksMapped',
  data: { productId, packs: Object.fromEntries(ids.map((id) => [id, pack])), at },
})
const mapPacks = (productId: string, ...ids: string[]): IntegrationCommand => ({
  ...{ type: 'MapCreditPacks', productId, packs: Object.fromEntries(ids.map((id) => [id, pack])), at },
})
const prices = (entries: Record<string, string>): IntegrationEvent => ({
  type: 'ProductMapped',
  data: { productId: 'editor', mapping: { prices: entries }, at },
})

describe('packs of credits', () => {
  test('are replaced as a whole, and one joins the others', () => {
    given(paddle)
      .when(mapPacks('editor', 'pri_1'))
      .expectEvents([packs('editor', 'pri_1')])
    given(paddle, packs('editor', 'pri_1')).when(mapPacks('editor', 'pri_1')).expectEvents([])
    given(paddle, packs('editor', 'pri_1'))
      .when(mapPacks('editor'))
      .expectEvents([packs('editor')])
    given(paddle, packs('editor', 'pri_1'))
      .when({ type: 'MapCreditPack', item: 'pri_2', productId: 'editor', pack, at })
      .expectEvents([packs('editor', 'pri_1', 'pri_2')])
  })

  test('take no id of a key type or of another product, and give none of theirs', () => {
    given(paddle, prices({ pri_1: 'pro' }))
      .when(mapPacks('editor', 'pri_1'))
      .expectRefusal('mapping_taken')
    given(paddle, packs('player', 'pri_1')).when(mapPacks('editor', 'pri_1')).expectRefusal('mapping_taken')
    given(paddle, packs('player', 'pri_1'))
      .when({ type: 'MapProduct', productId: 'editor', mapping: { prices: { pri_1: 'pro' } }, at })
      .expectRefusal('mapping_taken')
  })

  test('lose an id that is unmapped, or that a person says is a key type', () => {
    given(paddle, packs('editor', 'pri_1', 'pri_2'))
      .when({ type: 'UnmapItem', item: 'pri_1', at })
      .expectEvents([packs('editor', 'pri_2')])
    given(paddle, packs('player', 'pri_1'))
      .when({ type: 'MapItem', item: 'pri_1', productId: 'editor', keyTypeId: 'pro', at })
      .expectEvents([packs('player'), prices({ pri_1: 'pro' })])
  })

  test('of a provider that is not connected are refused', () =>
    given().when(mapPacks('editor', 'pri_1')).expectRefusal('integration_not_connected'))

  test('are found by the whole URL of a permalink too', () => {
    expect(packSoldAs({ pack }, 'https://acme.gumroad.com/l/pack?wanted=true')).toStrictEqual(pack)
    expect(packSoldAs({ pack }, 'package')).toBeUndefined()
  })

  test.each(['0', '0.0', '0.000000', '1234567890', '-1', '01', '1e3'])('add no %s', (amount) => {
    expect(CreditPack.safeParse({ ...pack, amount }).success).toBe(false)
  })
  test.each(['500', '0.5', '999999999.999999'])('add %s', (amount) => {
    expect(CreditPack.safeParse({ ...pack, amount }).success).toBe(true)
  })
})
