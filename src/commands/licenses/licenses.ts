import { findLicense, type LicenseEntry } from '../../../projections/licenses/queries.ts'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { isId } from '../../credentials/id.ts'
import { newLicenseKey } from '../../credentials/license-key.ts'
import type { Holder, LicenseTerms } from '../../domain/licenses/events.ts'
import { type TermsInput, termsOf } from '../../domain/licenses/issue.ts'
import {
  absentLicense,
  evolveLicense,
  type IssuedLicense,
  type License,
  licenses,
} from '../../domain/licenses/license.ts'
import type { Owned } from '../../domain/licenses/link.ts'
import type { KeyType } from '../../domain/products/key-type.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { Refusal } from '../../domain/refusal.ts'
import { licenseStream } from '../../domain/streams.ts'
import { type Loaded, noStream } from '../../ledger/execute.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Ports } from '../../ports.ts'
import { usingKeyType } from '../cross-stream/key-type-use.ts'
import { customerByAddress } from '../customers/by-address.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { keepKey, sealKeyToMail } from './keys.ts'

export type LicenseInput = TermsInput & {
  keyTypeId?: string | undefined
  email?: string | undefined
  name?: string | undefined
  customerId?: string | undefined
  metadata?: Record<string, string> | undefined
  /** Whether the key is sent to the holder by mail. */
  sendKey?: boolean | undefined
}

/** What a mint uses. */
export type MintPorts = Ports<
  | 'db'
  | 'deriveId'
  | 'execute'
  | 'keptKeys'
  | 'keyTypes'
  | 'ledger'
  | 'newId'
  | 'now'
  | 'randomBytes'
  | 'secrets'
  | 'subjects'
>

/** What changes to a license use. */
export type LicensePorts = MintPorts & Ports<'findProduct'>

type Claim = (
  license: Pick<LicenseTerms, 'tenantId' | 'productId' | 'licenseId' | 'keyTypeId' | 'holder'>,
) => Promise<Owned>

/**
 * Mints a license for a key type of a product, by default its first one.
 * @param claim what the license needs before it is minted, and the customer that it belongs to; called when nothing else refuses it
 * @returns the license as the read models show it, and its raw key, which is stored only if it is to be sent or kept
 * @throws Refusal `key_type_not_found`, `quantity_not_allowed`, `quantity_too_large`, `expiry_in_the_past`,
 *   `license_without_address`, `mails_off`
 */
export async function mintLicense(
  ports: MintPorts,
  product: PresentProduct,
  input: LicenseInput,
  origin: Origin,
  claim?: Claim,
): Promise<{ license: IssuedLicense; keyType: KeyType; licenseKey: string }> {
  const keyType = input.keyTypeId ? findKeyType(product, input.keyTypeId) : product.keyTypes[0]
  if (!keyType) throw new Refusal('key_type_not_found')
  const at = momentOf(ports)
  const terms = termsOf(keyType, input, at)
  const key = newLicenseKey(product.keyPrefix, ports.randomBytes)
  const { licenseKey, keyHash, displayKey } = key
  const licenseId = ports.newId('lic')
  const holder = await sealedHolder(ports, product.tenantId, input)
  const { tenantId, productId } = product
  const { keyTypeId } = keyType
  const { sendKey = false, customerId } = input
  const license = { tenantId, productId, licenseId, holder }
  if (sendKey) await sealKeyToMail(ports, license, key)
  await keepKey(ports, product, license, key)
  const owned = claim
    ? await claim({ ...license, keyTypeId })
    : customerId === undefined
      ? await customerByAddress(ports, tenantId, holder, origin)
      : { customerId }
  const { events, state } = await usingKeyType(ports, { tenantId, productId, keyTypeId }, (proof) =>
    ports.execute(
      licenses,
      licenseId,
      {
        type: 'MintLicense',
        sendKey,
        terms: {
          licenseId,
          tenantId,
          productId,
          keyTypeId,
          keyHash,
          displayKey,
          ...terms,
          onExpiry: keyType.onExpiry,
          holder,
          ...owned,
          source: 'api',
          saleId: null,
          test: false,
          metadata: input.metadata ?? {},
          createdAt: at,
          at,
        },
      },
      causeOf(origin, at),
      { loaded: noStream(licenses), run: origin.run, proof },
    ),
  )
  // An earlier request of the same run recorded it: the answer is the license as issued, without later
  // changes.
  const issued = events.length > 0 ? state : await issuedAs(ports.ledger, licenseStream(licenseId))
  if (issued.status === 'absent') throw new Error('a minted license is there')
  return { license: issued, keyType, licenseKey }
}

/** A name without an email address is dropped: there is no subject whose key could seal it. */
async function sealedHolder(
  ports: Ports<'subjects'>,
  tenantId: string,
  input: LicenseInput,
): Promise<Holder | null> {
  if (input.email === undefined) return null
  return ports.subjects.sealPerson(tenantId, input.email, input.name ?? null)
}

/**
 * Revokes a license permanently. A repeated run changes nothing, even if the license was changed since.
 * @throws Refusal `license_not_found`, `license_revoked` when another request has revoked it already
 */
export async function revokeLicense(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  licenseId: string,
  reason: string | null,
  origin: Origin,
): Promise<LicenseEntry> {
  const at = momentOf(ports)
  const find = () => requireLicense(ports, tenantId, licenseId)
  const command = { type: 'RevokeLicense', reason, at } as const
  const read = async () => stateOf(await find())
  await ports.execute(licenses, licenseId, command, causeOf(origin, at), { read, run: origin.run })
  return find()
}

/** @throws Refusal `license_not_found`, also for another tenant's license and for a malformed id */
export async function requireLicense(
  ports: Ports<'db'>,
  tenantId: string,
  licenseId: string,
): Promise<LicenseEntry> {
  const entry = isId('lic', licenseId) ? await findLicense(ports.db, tenantId, licenseId) : undefined
  if (!entry) throw new Refusal('license_not_found')
  return entry
}

/** The license after its first event. */
export async function issuedAs(ledger: Ledger, stream: string): Promise<License> {
  for await (const entry of ledger.readStream(stream, 1)) {
    if (entry.readable && entry.category === 'license') return evolveLicense(absentLicense, entry.event)
  }
  return absentLicense
}

/** The state of a license from a row of a read model, for a decision. */
export const stateOf = ({
  license,
  revision,
}: {
  license: IssuedLicense
  revision: number
}): Loaded<License> => ({ state: license, revision })
