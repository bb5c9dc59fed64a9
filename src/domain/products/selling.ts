import { Refusal } from '../refusal.ts'
import type { ProductEvent, ProductSettings } from './events.ts'
import type { KeyType, Price } from './key-type.ts'

/** Names of the card provider's test keys in the vault: the present one, and those to destroy. */
export type TestKeys = { secretName: string | null; retired: readonly string[] }

/** What of a product can be sold, and how. */
type Sellable = { settings: ProductSettings; keyTypes: readonly KeyType[]; testKeys?: TestKeys }

/** The card provider's price of a key type. */
export type KeyTypePrice = { keyTypeId: string; price: Price }

export type SellingCommand =
  | { type: 'EnableTestMode'; publishableKey: string; secretName: string; at: string }
  | { type: 'SwitchTestModeOn'; at: string }
  | { type: 'DisableTestMode'; at: string }
  /** Sets the price of each key type; key types that are not listed get none. */
  | { type: 'MapPrices'; prices: readonly KeyTypePrice[]; at: string }
  | { type: 'RecordPrices'; prices: readonly KeyTypePrice[]; at: string }

/** @throws Refusal `mapping_key_type_not_found` */
export function decideSelling(product: Sellable, command: SellingCommand): ProductEvent[] {
  const { at } = command
  switch (command.type) {
    case 'EnableTestMode': {
      const { publishableKey, secretName } = command
      return [{ type: 'TestModeEnabled', data: { publishableKey, secretName, at } }]
    }
    case 'SwitchTestModeOn':
      return product.settings.testMode.enabled ? [] : [{ type: 'TestModeSwitchedOn', data: { at } }]
    case 'DisableTestMode':
      return product.settings.testMode.enabled ? [{ type: 'TestModeDisabled', data: { at } }] : []
    case 'MapPrices': {
      const wanted = new Map(command.prices.map(({ keyTypeId, price }) => [keyTypeId, price]))
      const known = new Set(product.keyTypes.map(({ keyTypeId }) => keyTypeId))
      for (const keyTypeId of wanted.keys()) {
        if (!known.has(keyTypeId)) throw new Refusal('mapping_key_type_not_found')
      }
      return product.keyTypes.flatMap((keyType): ProductEvent[] => {
        const price = wanted.get(keyType.keyTypeId) ?? null
        if (price === null && keyType.price === null) return []
        return [{ type: 'KeyTypeChanged', data: { keyType: { ...keyType, price }, at } }]
      })
    }
    case 'RecordPrices': {
      // Skip a key type whose price id was changed while the provider was being asked.
      const prices = command.prices.filter(({ keyTypeId, price }) =>
        product.keyTypes.some((now) => now.keyTypeId === keyTypeId && now.price?.priceId === price.priceId),
      )
      return prices.length === 0 ? [] : [{ type: 'PricesVerified', data: { prices, at } }]
    }
  }
}

type SellingEvent = Extract<
  ProductEvent,
  { type: 'TestModeEnabled' | 'TestModeSwitchedOn' | 'TestModeDisabled' | 'PricesVerified' }
>

/** Whether the card provider's test checkout can be opened for the product. */
export const hasTestKeys = ({ testKeys }: Pick<Sellable, 'testKeys'>): boolean =>
  (testKeys?.secretName ?? null) !== null

/** Never refuses: what is recorded has happened. */
export function evolveSelling<S extends Sellable>(product: S, event: SellingEvent): S {
  const { testKeys } = product
  const retired = [...(testKeys?.retired ?? []), ...(testKeys?.secretName ? [testKeys.secretName] : [])]
  switch (event.type) {
    case 'TestModeEnabled': {
      const { publishableKey, secretName } = event.data
      const settings = { ...product.settings, testMode: { enabled: true, publishableKey } }
      return { ...product, settings, testKeys: { secretName, retired } }
    }
    case 'TestModeSwitchedOn':
      return { ...product, settings: { ...product.settings, testMode: { enabled: true } } }
    case 'TestModeDisabled': {
      const settings = { ...product.settings, testMode: { enabled: false } }
      return { ...product, settings, testKeys: { secretName: null, retired } }
    }
    case 'PricesVerified': {
      const { prices } = event.data
      const keyTypes = product.keyTypes.map((keyType): KeyType => {
        const found = prices.find(
          ({ keyTypeId, price }) =>
            keyTypeId === keyType.keyTypeId && price.priceId === keyType.price?.priceId,
        )
        return found ? { ...keyType, price: found.price } : keyType
      })
      return { ...product, keyTypes }
    }
  }
}
