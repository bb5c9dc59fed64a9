import { entitlementsFor, entitlementValuesFor } from '../../../projections/licenses/entitlements.ts'
import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { listSigningKeys } from '../../../projections/signing.ts'
import { type IssuedLicense, type License, licenses } from '../../domain/licenses/license.ts'
import type { Relay } from '../../domain/licenses/relay-seats.ts'
import { statusAt } from '../../domain/licenses/status.ts'
import type { FloatingSeats } from '../../domain/products/key-type.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { namedHolder } from '../../signing/holder.ts'
import { type KeysById, keysById } from '../../signing/keyset.ts'
import {
  type ReadRelayRequest,
  readRelayRelease,
  readRelayRequest,
  signCertificate,
} from '../../signing/relay-statements.ts'
import type { Envelope } from '../../signing/settings.ts'
import type { ActiveKey } from '../../signing/signer.ts'
import { keepRelayMinutes } from '../../usage/relay-minutes.ts'
import { requireLicense } from '../licenses/licenses.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { signingKeyOf } from '../signing-keys.ts'
import { isOfKey } from './files.ts'

/** What relays need. */
export type RelayPorts = Ports<
  | 'db'
  | 'execute'
  | 'findProduct'
  | 'keyHashing'
  | 'newId'
  | 'now'
  | 'randomBytes'
  | 'seatEnds'
  | 'secrets'
  | 'signSettings'
  | 'signer'
  | 'subjects'
>

/** A license, and why its relay is enrolled or released. */
type Place = { tenantId: string; licenseId: string; reason?: string | null | undefined }

/** What a relay gets for its request: all that it needs to answer apps by itself. */
export type RelayAnswer = {
  certificate: string
  keys: KeysById
  /** As apps get them; null for a product without a trial length, whose settings are not signed. */
  settings: Envelope | null
  product: { tenantId: string; productId: string; name: string }
}

type Rules = { maxDays: number; floating: FloatingSeats; product: PresentProduct }

/**
 * Answers the request of a relay: enrolls it, which takes its seats, or renews it. The same request gets the same certificate
 * again. The stream decides, so that neither two processes nor a crash give more seats than the license has; what the relay reports
 * of its usage is kept after that, and again with a retry.
 * @param days how long the certificate is good at most; undefined for as long as the key type allows
 * @throws Refusal `license_not_found`, `relays_off`, `relay_too_long`, `relay_request_unreadable`,
 *   `relay_request_of_another_license`, what `decideOnRelay` refuses
 * @throws SigningFailed before anything is recorded
 */
export async function certifyRelay(
  ports: RelayPorts,
  {
    tenantId,
    licenseId,
    request: text,
    days,
    reason,
  }: Place & { request: string; days?: number | undefined },
  origin: Origin,
): Promise<{ relay: Relay; answer: RelayAnswer }> {
  const at = momentOf(ports)
  const entry = await requireLicense(ports, tenantId, licenseId)
  const request = readRelayRequest(text, entry.license)
  if (!request) throw new Refusal('relay_request_unreadable')
  if (!(await isOfKey(ports, entry, request))) throw new Refusal('relay_request_of_another_license')
  const rules = await rulesFor(ports, entry.license)
  if (!rules) throw new Refusal('relays_off')
  if (days !== undefined && days > rules.maxDays) throw new Refusal('relay_too_long')
  const key = await signingKeyOf(ports, tenantId, origin)
  await ports.signer.prepare(tenantId, key)
  const seconds = (days ?? rules.maxDays) * 86_400
  const asked = { newId: ports.newId('rel'), request: domainRequest(request), seconds, reason, at }
  const certify = async () => {
    const ranOut = await ports.seatEnds.passed(licenseId)
    const command = { type: 'CertifyRelay', ...asked, ranOut } as const
    return ports.execute(licenses, licenseId, command, causeOf(origin, at), { run: origin.run })
  }
  const { state } = await certify().catch(async (error: unknown) => {
    if (!(error instanceof Refusal) || error.code !== 'seat_limit_reached') throw error
    // Another call may have seen a seat run out just before this one looked; it is free for either of them.
    await ports.seatEnds.begin(licenseId, rules.floating.seatSeconds)
    return certify()
  })
  const { license, relay } = relayIn(state, request)
  if (relay.forkedAt !== null) throw new Refusal('relay_copied')
  // A run that is repeated after a crash, when a newer request has been answered.
  if (relay.nonce !== request.nonce) throw new Refusal('relay_request_outdated')
  await keepRelayMinutes(ports.db, { licenseId, relayId: relay.relayId }, request.minutes, ports.now())
  return { relay, answer: await answerFor(ports, { entry, license, relay, request, rules, key, at }) }
}

/** Without what only the usage needs. */
const domainRequest = ({ minutes: _, keyHash: __, ...request }: ReadRelayRequest) => request

/** The relay whose request was answered, or that turned out to be copied. */
function relayIn(
  license: License,
  { relayId, publicKey, nonce }: ReadRelayRequest,
): { license: IssuedLicense; relay: Relay } {
  if (license.status === 'issued') {
    const ofKey = license.relays.filter((each) => each.publicKey === publicKey)
    const relay =
      ofKey.find((each) => each.nonce === nonce) ??
      ofKey.find((each) => each.relayId === relayId) ??
      ofKey.at(-1)
    if (relay) return { license, relay }
  }
  throw new Error('a relay that was answered is there')
}

type Answered = {
  entry: LicenseEntry
  license: IssuedLicense
  relay: Relay
  request: ReadRelayRequest
  rules: Rules
  key: ActiveKey
  at: string
}

async function answerFor(
  ports: RelayPorts,
  { entry, license, relay, request, rules: { floating, product }, key, at }: Answered,
): Promise<RelayAnswer> {
  const { tenantId, productId, licenseId } = license
  const { trialDurationDays, freeTierEnabled, leaseHolder = false } = product.settings
  const status = statusAt(license, at)
  const entitlements = entitlementsFor(status, entry, at)
  const facts = {
    tenantId,
    productId,
    licenseId,
    keyHash: request.keyHash,
    status,
    entitlements,
    values: entitlementValuesFor(entitlements, entry, at) ?? {},
    holder: leaseHolder ? await namedHolder(ports, tenantId, license.holder) : undefined,
    license,
    relay,
    floating,
  }
  const since = product.clientSettingsSince
  const settings = { tenantId, productId, freeTierEnabled, since }
  return {
    certificate: await signCertificate(ports.signer, key, facts),
    keys: keysById(await listSigningKeys(ports.db, tenantId, at)),
    settings:
      trialDurationDays === undefined
        ? null
        : await ports.signSettings({ ...settings, trialDurationDays }, key, at),
    product: { tenantId, productId, name: product.name },
  }
}

/**
 * Frees the seats of a relay that gives them back. Sent twice, it does so once.
 * @throws Refusal `license_not_found`, `relay_release_unreadable`, `relay_not_found`, `relay_copied`
 */
export async function releaseRelay(
  ports: Ports<'db' | 'execute' | 'now'>,
  { tenantId, licenseId, release: text, reason }: Place & { release: string },
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  const { license } = await requireLicense(ports, tenantId, licenseId)
  const read = readRelayRelease(text, license)
  if (!read) throw new Refusal('relay_release_unreadable')
  const { minutes, ...release } = read
  const command = { type: 'ReleaseRelay', release, reason, at } as const
  const options = { run: origin.run }
  const { state } = await ports.execute(licenses, licenseId, command, causeOf(origin, at), options)
  const { relayId } = release
  const relay = state.status === 'issued' && state.relays.find((each) => each.relayId === relayId)
  if (relay && relay.releasedAt === null) throw new Refusal('relay_copied')
  await keepRelayMinutes(ports.db, { licenseId, relayId }, minutes, ports.now())
}

/** Whether a license may have relays. */
export const allowRelays = async (ports: Ports<'findProduct'>, license: IssuedLicense): Promise<boolean> =>
  (await rulesFor(ports, license)) !== undefined

/** What the key type of a license allows now; undefined where it allows no relays, and for a license whose seats do not float. */
async function rulesFor(
  { findProduct }: Ports<'findProduct'>,
  { tenantId, productId, keyTypeId, floating }: IssuedLicense,
): Promise<Rules | undefined> {
  if (floating === null) return undefined
  const product = await findProduct(tenantId, productId)
  const relays = product && findKeyType(product, keyTypeId)?.floatingSeats?.relays
  return relays && { maxDays: relays.maxDays, floating, product }
}
