import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import { Refusal } from '../refusal.ts'
import { slugOf } from '../values.ts'
import { DeviceMail } from './device-mails.ts'
import type { ProductEvent, ProductSettings } from './events.ts'
import { defaultKeyType, type KeyType } from './key-type.ts'
import { changedKeyType, checkedKeyType } from './key-type-rules.ts'
import { type Release, releasesInOrder } from './releases.ts'
import { decideSelling, evolveSelling, type SellingCommand, type TestKeys } from './selling.ts'

export type Product =
  | { status: 'absent' }
  | {
      status: 'present'
      tenantId: string
      productId: string
      name: string
      keyPrefix: string
      settings: ProductSettings
      /** In the order in which they were added; the first is the default of a mint. */
      keyTypes: readonly KeyType[]
      createdAt: string
      updatedAt: string
      testKeys?: TestKeys
      /**
       * When the trial and free-tier settings of apps last changed, which restarts the validity of signed
       * settings.
       */
      clientSettingsSince: string
      /** How often key recovery was turned off, which ends a period of kept keys; absent while it never was. */
      keyPeriod?: number
    }

/** What `null` resets to "never configured". */
type Resettable = Pick<
  ProductSettings,
  'trialDurationDays' | 'deviceMatch' | 'expiringNotice' | 'deviceMails' | 'keySharing'
>

/** A change of the settings, as in a PATCH request. */
export type SettingsChange = Partial<Omit<ProductSettings, 'testMode' | keyof Resettable>> & {
  [Name in keyof Resettable]?: Resettable[Name] | null
}

export type ProductCommand =
  | {
      type: 'CreateProduct'
      tenantId: string
      productId: string
      name: string
      keyPrefix: string
      settings: SettingsChange
      keyTypes: readonly KeyType[]
      at: string
    }
  | { type: 'ChangeProduct'; name?: string; keyPrefix?: string; settings: SettingsChange; at: string }
  | { type: 'AddKeyType'; keyType: KeyType; at: string }
  | { type: 'ChangeKeyType'; keyTypeId: string; change: Partial<Omit<KeyType, 'keyTypeId'>>; at: string }
  /** @param inUse whether a live license references it */
  | { type: 'DeleteKeyType'; keyTypeId: string; inUse: boolean; at: string }
  /** @param listed the releases that are listed now, which are not part of the product's state */
  | { type: 'ListReleases'; releases: readonly Release[]; listed: readonly Release[]; at: string }
  | SellingCommand

export const absentProduct: Product = { status: 'absent' }

export const defaultSettings: ProductSettings = {
  freeTierEnabled: false,
  testMode: { enabled: false },
  leaseSeconds: 604_800,
  revalidateAfterSeconds: 3600,
  onRefund: 'revoke',
  keyRecovery: false,
}

/**
 * Returning no events means that the request was already true.
 * @throws Refusal `product_exists`, `product_not_found`, `key_type_exists`, `key_type_not_found`, `key_type_is_last`,
 * `mapping_key_type_not_found`, `term_without_duration`, `value_without_entitlement`
 */
export function decideProduct(product: Product, command: ProductCommand): ProductEvent[] {
  if (command.type === 'CreateProduct') {
    if (product.status !== 'absent') throw new Refusal('product_exists')
    return created(command)
  }
  if (product.status === 'absent') throw new Refusal('product_not_found')
  const { at } = command
  switch (command.type) {
    case 'ChangeProduct': {
      const events: ProductEvent[] = []
      const { name, keyPrefix } = command
      if (name !== undefined && name !== product.name) {
        events.push({ type: 'ProductRenamed', data: { name, at } })
      }
      if (keyPrefix !== undefined && keyPrefix !== product.keyPrefix) {
        events.push({ type: 'KeyPrefixChanged', data: { keyPrefix, at } })
      }
      const settings = settingsWith(product.settings, command.settings)
      if (!sameJson(settings, product.settings)) {
        events.push({ type: 'ProductSettingsChanged', data: { settings, at } })
      }
      return events
    }
    case 'AddKeyType':
      if (findKeyType(product, command.keyType.keyTypeId)) throw new Refusal('key_type_exists')
      return [{ type: 'KeyTypeAdded', data: { keyType: checkedKeyType(command.keyType), at } }]
    case 'ChangeKeyType': {
      const before = findKeyType(product, command.keyTypeId)
      if (!before) throw new Refusal('key_type_not_found')
      const keyType = changedKeyType(before, command.change)
      return sameJson(keyType, before) ? [] : [{ type: 'KeyTypeChanged', data: { keyType, at } }]
    }
    case 'DeleteKeyType': {
      const { keyTypeId, inUse } = command
      if (!findKeyType(product, keyTypeId)) throw new Refusal('key_type_not_found')
      if (product.keyTypes.length === 1) throw new Refusal('key_type_is_last')
      if (inUse) throw new Refusal('key_type_in_use')
      return [{ type: 'KeyTypeDeleted', data: { keyTypeId, at } }]
    }
    case 'ListReleases': {
      const releases = releasesInOrder(command.releases)
      return sameJson(releases, command.listed) ? [] : [{ type: 'ReleasesListed', data: { releases, at } }]
    }
    default:
      return decideSelling(product, command)
  }
}

function created(command: Extract<ProductCommand, { type: 'CreateProduct' }>): ProductEvent[] {
  const { tenantId, productId, name, keyPrefix, at } = command
  const keyTypes = command.keyTypes.length > 0 ? command.keyTypes.map(checkedKeyType) : [defaultKeyType]
  if (new Set(keyTypes.map((keyType) => keyType.keyTypeId)).size < keyTypes.length) {
    throw new Refusal('key_type_exists')
  }
  const settings = settingsWith(defaultSettings, command.settings)
  return [
    { type: 'ProductCreated', data: { tenantId, productId, name, keyPrefix, settings, at } },
    ...keyTypes.map((keyType): ProductEvent => ({ type: 'KeyTypeAdded', data: { keyType, at } })),
  ]
}

function settingsWith(before: ProductSettings, change: SettingsChange): ProductSettings {
  const {
    trialDurationDays: trialBefore,
    deviceMatch: matchBefore,
    expiringNotice: noticeBefore,
    deviceMails: deviceMailsBefore,
    keySharing: sharingBefore,
    ...kept
  } = before
  const {
    trialDurationDays: trialChange,
    deviceMatch: matchChange,
    expiringNotice: noticeChange,
    deviceMails: deviceMailsChange,
    keySharing: sharingChange,
    ...changed
  } = change
  const trialDurationDays = afterChange(trialBefore, trialChange)
  const deviceMatch = afterChange(matchBefore, matchChange)
  const notice = afterChange(noticeBefore, noticeChange)
  const deviceMails = afterChange(deviceMailsBefore, deviceMailsChange)
  const keySharing = afterChange(sharingBefore, sharingChange)
  return {
    ...kept,
    ...changed,
    ...(trialDurationDays !== undefined && { trialDurationDays }),
    ...(deviceMatch !== undefined && { deviceMatch }),
    ...(deviceMails !== undefined && {
      deviceMails: DeviceMail.options.filter((mail) => deviceMails.includes(mail)),
    }),
    ...(keySharing !== undefined && { keySharing }),
    ...(notice !== undefined && { expiringNotice: { days: daysInOrder(notice.days) } }),
  }
}

/** A set of days in one form: the earliest notice first. */
const daysInOrder = (days: readonly number[]): number[] => [...new Set(days)].sort((a, b) => b - a)

/** The value of a setting that `null` resets. */
const afterChange = <T>(before: T | undefined, change: T | null | undefined): T | undefined =>
  change === undefined ? before : (change ?? undefined)

export function findKeyType(
  product: { keyTypes: readonly KeyType[] },
  keyTypeId: string,
): KeyType | undefined {
  return product.keyTypes.find((keyType) => keyType.keyTypeId === keyTypeId)
}

/** The period that a key which is kept now belongs to. */
export const keyPeriodOf = ({ keyPeriod = 0 }: { keyPeriod?: number }): number => keyPeriod

function tellsAppsTheSame(left: ProductSettings, right: ProductSettings): boolean {
  return left.freeTierEnabled === right.freeTierEnabled && left.trialDurationDays === right.trialDurationDays
}

/** Never refuses: what is recorded has happened. */
export function evolveProduct(product: Product, event: ProductEvent): Product {
  if (event.type === 'ProductCreated') {
    const { at, ...data } = event.data
    const times = { createdAt: at, updatedAt: at, clientSettingsSince: at }
    return { ...data, status: 'present', keyTypes: [], ...times }
  }
  if (product.status === 'absent') return product
  const changed = { ...product, updatedAt: event.data.at }
  switch (event.type) {
    case 'ProductRenamed':
      return { ...changed, name: event.data.name }
    case 'KeyPrefixChanged':
      return { ...changed, keyPrefix: event.data.keyPrefix }
    case 'ProductSettingsChanged': {
      const { settings, at } = event.data
      const turnedOff = product.settings.keyRecovery && !settings.keyRecovery
      return {
        ...changed,
        settings,
        ...(!tellsAppsTheSame(settings, product.settings) && { clientSettingsSince: at }),
        ...(turnedOff && { keyPeriod: keyPeriodOf(product) + 1 }),
      }
    }
    case 'KeyTypeAdded':
      return { ...changed, keyTypes: [...product.keyTypes, event.data.keyType] }
    case 'KeyTypeChanged': {
      const { keyType } = event.data
      const keyTypes = product.keyTypes.map((old) => (old.keyTypeId === keyType.keyTypeId ? keyType : old))
      return { ...changed, keyTypes }
    }
    case 'KeyTypeDeleted': {
      const keyTypes = product.keyTypes.filter(({ keyTypeId }) => keyTypeId !== event.data.keyTypeId)
      return { ...changed, keyTypes }
    }
    case 'ReleasesListed':
      return changed
    default:
      return evolveSelling(changed, event)
  }
}

/** The rules of product streams. */
export const products: Decider<Product, ProductCommand, 'product'> = {
  category: 'product',
  initial: absentProduct,
  decide: decideProduct,
  evolve: evolveProduct,
}

/** `Acme Editor 2` becomes `ACMEEDIT`; a name without usable letters gets a generic prefix. */
export function keyPrefixOf(name: string): string {
  const letters = slugOf(name).replaceAll('-', '').toUpperCase().slice(0, 8)
  return letters.length >= 2 ? letters : 'KEY'
}
