import { setTimeout } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { findAddressOfPerson } from '../../../projections/licenses/of-person.ts'
import { findLook } from '../../../projections/wordings.ts'
import { customerLinkMs, hasCustomerLink, writeCustomerLink } from '../../access/customer-links.ts'
import { sameMailbox } from '../../access/fingerprint.ts'
import { momentOf } from '../../commands/origin.ts'
import { newSecret } from '../../credentials/secret.ts'
import { writePortalMail } from '../../domain/mails/portal-mail.ts'
import { callerOf } from '../../limits/address.ts'
import type { OutgoingMail } from '../../mail/mailer.ts'
import type { PortalContext } from '../context.ts'
import type { Visit } from '../visit.ts'

export const linkMinutes = customerLinkMs / 60_000

/** A network may ask for this many links of a tenant, and of these a few for one mailbox. */
const perNetwork = { burst: 20, intervalMs: 60_000 }
const perMailboxOfNetwork = { burst: 3, intervalMs: 5 * 60_000 }
/** All networks together may ask for more: strangers must not use up what its owner has left. */
const perMailbox = { burst: 12, intervalMs: 10 * 60_000 }

/** When the mail is tried again (milliseconds); the link is still good for minutes then. */
const retries = [5000, 30_000]

export type LinkRequest = { email: string; browser: string; address: string }

/**
 * Makes a link for an address, and mails it if a license belongs to that address. What an unknown address is answered
 * is the same and takes the same look-ups and writes: only the mail, which is sent afterwards, makes the difference.
 * @returns how long to wait, in seconds, when too many were asked for; else the sending, for the tests to wait for
 */
export async function requestLink(
  { ports, baseUrl }: PortalContext,
  visit: Visit,
  { email, browser, address }: LinkRequest,
  log: FastifyBaseLogger,
): Promise<{ waitSeconds: number } | { waitSeconds: null; sending: Promise<void> }> {
  const { tenantId } = visit
  const mailbox = ports.fingerprint('email', sameMailbox(email))
  const network = callerOf(address)
  const attempt = await ports.attempts.take([
    { bucket: `portal ${tenantId} ${network}`, allowance: perNetwork },
    { bucket: `portal ${tenantId} ${network} ${mailbox}`, allowance: perMailboxOfNetwork },
    { bucket: `portal ${tenantId} mailbox ${mailbox}`, allowance: perMailbox },
  ])
  if (!attempt.allowed) return { waitSeconds: attempt.retryAfterSeconds }
  const known = (await ports.subjects.findSubject(tenantId, email)) ?? null
  const sealed = await findAddressOfPerson(ports.db, tenantId, known)
  const secret = newSecret(ports.randomBytes)
  const deliveryId = ports.newId('lnk')
  const subjectId = sealed?.subjectId ?? null
  const mailId = ports.mailing.mailbox === undefined || subjectId === null ? null : deliveryId
  await writeCustomerLink(ports.db, { secret, tenantId, subjectId, browser, mailId }, ports.now())
  if (!sealed) return { waitSeconds: null, sending: Promise.resolve() }
  const url = `${baseUrl}${visit.home}/link?token=${secret}`
  const sending = mailLink(ports, visit, { sealed, deliveryId, url, secret }).catch((err: unknown) =>
    log.warn({ err, tenant_id: tenantId }, 'portal.mail_failed'),
  )
  return { waitSeconds: null, sending }
}

type LinkMail = {
  sealed: { subjectId: string; email: string; name: null }
  deliveryId: string
  url: string
  secret: string
}

/** Mails a link to the address that the license has, whatever the spelling that was typed. */
async function mailLink(
  ports: PortalContext['ports'],
  { tenantId, portal, language, say }: Visit,
  { sealed, deliveryId, url, secret }: LinkMail,
): Promise<void> {
  const [person] = await ports.subjects.openPeople(tenantId, [sealed])
  if (!person?.email) return
  const { mailer, mailbox, from } = ports.mailing
  const { supportEmail } = portal.settings
  const facts = { to: person.email, vendor: portal.name, supportEmail, url, minutes: linkMinutes }
  const look = await findLook(ports.db, tenantId)
  const mail: OutgoingMail = {
    ...writePortalMail(facts, { language, say, look }, from),
    tenantId,
    deliveryId,
    at: momentOf(ports),
  }
  for (const waitMs of [...retries, null]) {
    const sending = await mailer.send(mail)
    if (sending.taken) break
    if (waitMs === null) throw new Error(`the mail with the link was not taken: ${sending.problem}`)
    await setTimeout(waitMs, undefined, { ref: false })
  }
  // Erased while the mail was written: the erasure found no mail to remove yet.
  if (mailbox && !(await hasCustomerLink(ports.db, secret))) await mailbox.remove(tenantId, deliveryId)
}
