import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import { type IssuedLicense, licenses } from '../../domain/licenses/license.ts'
import type { PortalLanguage } from '../../domain/portal/languages.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { openKeptKey, requireMail } from './keys.ts'
import { requireLicense, stateOf } from './licenses.ts'

/**
 * Mails the kept key of a license to its holder again, at most once in five minutes. Without a mail server the mail would
 * stand on a page of the dashboard, and no page shows a kept key.
 * @throws Refusal `license_not_found`, `license_revoked`, `license_without_address`, `mails_off`, `no_mail_server`,
 *   `keys_not_kept`, `key_not_kept`, `key_mailed_recently`
 */
export async function sendKey(
  ports: Ports<'db' | 'execute' | 'findProduct' | 'keptKeys' | 'mailing' | 'now'>,
  {
    tenantId,
    licenseId,
    reason,
    language,
  }: {
    tenantId: string
    licenseId: string
    reason: string | null
    /** The customer's, for the mail. */
    language?: PortalLanguage
  },
  origin: Origin,
): Promise<LicenseEntry> {
  const find = () => requireLicense(ports, tenantId, licenseId)
  const found = await find()
  const at = momentOf(ports)
  await ports.execute(
    licenses,
    licenseId,
    async (license) => {
      if (license.status === 'issued' && license.revokedAt === null) await requireSendable(ports, license)
      return { type: 'SendKey', language, reason, at }
    },
    causeOf(origin, at),
    { loaded: stateOf(found), read: async () => stateOf(await find()), run: origin.run },
  )
  return find()
}

type SendPorts = Ports<'db' | 'findProduct' | 'keptKeys' | 'mailing'>

/** @throws Refusal `license_without_address`, `mails_off`, `no_mail_server`, `keys_not_kept`, `key_not_kept` */
async function requireSendable(ports: SendPorts, license: IssuedLicense): Promise<void> {
  await requireMail(ports, license)
  if (ports.mailing.mailbox) throw new Refusal('no_mail_server')
  const product = await ports.findProduct(license.tenantId, license.productId)
  if (!product?.settings.keyRecovery) throw new Refusal('keys_not_kept')
  if ((await openKeptKey(ports, product, license)) === undefined) throw new Refusal('key_not_kept')
}

/** Whether the key of a license may be mailed to its holder again. */
export async function isSendable(ports: SendPorts, license: IssuedLicense): Promise<boolean> {
  if (license.revokedAt !== null) return false
  return requireSendable(ports, license).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Refusal) return false
      throw error
    },
  )
}
