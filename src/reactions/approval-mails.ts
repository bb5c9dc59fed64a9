import { type ConfirmationEntry, listFirstPending } from '../../projections/confirmations.ts'
import { findTenant } from '../../projections/tenants.ts'
import type { Allowance } from '../access/attempts.ts'
import { changeConfirmation, loadConfirmation } from '../commands/confirmations.ts'
import { withTenantLock } from '../commands/cross-stream/tenant-lock.ts'
import { momentOf } from '../commands/origin.ts'
import { confirmationStatusAt, type RequestedConfirmation } from '../domain/confirmations/confirmation.ts'
import { type MailedRequest, writeApprovalMail } from '../domain/mails/approval-mail.ts'
import { approvalRuleFor, membersWhoMayApprove } from '../gate/approval-rule.ts'
import { findOperation } from '../gate/registry.ts'
import { isMember } from '../gate/request.ts'
import type { Ports } from '../ports.ts'
import type { Poller } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

type Options = {
  /** The beginning of the URLs in the mails. */
  baseUrl: string
  /**
   * Called for a tenant of which a member could not be notified; it is retried as long as requests can be decided.
   */
  onFailure: (failure: Failure) => void
}

/**
 * The limit of notified confirmations per tenant, so that an API client with endless requests does not flood
 * mailboxes.
 */
const maxOfTenant = 20

/** A member gets one mail, and requests that are made meanwhile are together in the next one. */
const perMember: Allowance = { burst: 1, intervalMs: 3 * 60_000 }

type MailPorts = Ports<'attempts' | 'db' | 'deriveId' | 'execute' | 'ledger' | 'mailing' | 'now' | 'subjects'>

type OfTenant = { tenantId: string; entries: readonly ConfirmationEntry[] }

/**
 * Notifies by mail the members who may approve requests, if a mail server is set up. Processes hold a lock,
 * and each accepted mail is recorded with its requests, so that each member gets one mail of each. After a crash
 * between the two, the mail is sent again with the same id.
 */
export function mailApprovers(ports: MailPorts, { baseUrl, onFailure }: Options): Poller {
  // Both only avoid reading streams again; the recorded events and the allowance of each member decide.
  let done: ReadonlySet<string> = new Set()
  const quietUntil = new Map<string, number>()
  return processOf<OfTenant>(ports, onFailure, {
    name: 'confirmations.mail',
    everyMs: 1000,
    most: Number.POSITIVE_INFINITY,
    async due({ except }) {
      if (ports.mailing.mailbox !== undefined) return []
      const pending = await listFirstPending(ports.db, momentOf(ports), maxOfTenant)
      done = new Set(pending.map(idOf).filter((id) => done.has(id)))
      const now = ports.now().getTime()
      for (const [tenantId, until] of quietUntil) if (until <= now) quietUntil.delete(tenantId)
      return byTenant(pending.filter((entry) => !done.has(idOf(entry)))).filter(
        ({ tenantId }) => !except.includes(tenantId) && !quietUntil.has(tenantId),
      )
    },
    idOf: ({ tenantId }) => tenantId,
    async advance({ tenantId, entries }) {
      const waitSeconds = await notifyApprovers(ports, tenantId, entries, baseUrl)
      if (waitSeconds === 0) done = new Set([...done, ...entries.map(idOf)])
      else quietUntil.set(tenantId, ports.now().getTime() + waitSeconds * 1000)
    },
  })
}

const idOf = ({ confirmation }: ConfirmationEntry): string => confirmation.confirmationId

function byTenant(entries: readonly ConfirmationEntry[]): OfTenant[] {
  const groups = Map.groupBy(entries, ({ confirmation }) => confirmation.tenantId)
  return [...groups].map(([tenantId, of]) => ({ tenantId, entries: of }))
}

type Notice = { confirmation: RequestedConfirmation; shown: MailedRequest }

/** A member, and the requests that they may approve and were not mailed about. */
type Recipient = { memberId: string; email: string; notices: [Notice, ...Notice[]] }

/**
 * @returns in how many seconds a member may get the next mail about requests that they were not mailed about yet; else 0
 * @throws Error when a mail was not accepted; the others were sent
 */
async function notifyApprovers(
  ports: MailPorts,
  tenantId: string,
  entries: readonly ConfirmationEntry[],
  baseUrl: string,
): Promise<number> {
  return withTenantLock(ports.db, tenantId, 'approval mails', async () => {
    const recipients = await recipientsOf(ports, entries, baseUrl)
    if (recipients.length === 0) return 0
    const tenant = await findTenant(ports.db, tenantId)
    const workspace = tenant?.name ?? tenantId
    const listUrl = `${baseUrl}/dashboard/approvals`
    const outcomes = await Promise.allSettled(
      recipients.map((recipient) => notify(ports, recipient, { tenantId, workspace, listUrl })),
    )
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed) throw failed.reason
    return Math.max(...outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 0)))
  })
}

async function recipientsOf(
  ports: Ports<'db' | 'ledger' | 'now' | 'subjects'>,
  entries: readonly ConfirmationEntry[],
  baseUrl: string,
): Promise<Recipient[]> {
  const recipients = new Map<string, Recipient>()
  for (const { confirmation: listed, tokenName } of entries) {
    const { state: confirmation } = await loadConfirmation(ports, listed.confirmationId)
    if (confirmation.status === 'absent') continue
    if (confirmationStatusAt(confirmation, momentOf(ports)) !== 'pending') continue
    const notice = { confirmation, shown: shownIn(confirmation, tokenName, baseUrl) }
    for (const { memberId, email } of await membersToNotify(ports, confirmation)) {
      const known = recipients.get(memberId)
      if (known) known.notices.push(notice)
      else recipients.set(memberId, { memberId, email, notices: [notice] })
    }
  }
  return [...recipients.values()]
}

const shownIn = (
  { confirmationId, operation, tokenId, expiresAt }: RequestedConfirmation,
  tokenName: string | null,
  baseUrl: string,
): MailedRequest => ({
  title: findOperation(operation)?.title ?? operation,
  requester: isMember(tokenId) ? { kind: 'member', name: null } : { kind: 'program', name: tokenName },
  expiresAt,
  url: `${baseUrl}/dashboard/approvals/${confirmationId}`,
})

/**
 * The members who may approve it and have no mail yet, without a member who made the request in the dashboard
 * and sees its page.
 */
async function membersToNotify(
  ports: Ports<'db' | 'ledger' | 'subjects'>,
  confirmation: RequestedConfirmation,
) {
  const { tenantId, tokenId, mailed } = confirmation
  const rule = await approvalRuleFor(ports, confirmation)
  const members = await membersWhoMayApprove(ports, tenantId, rule)
  return members.flatMap(({ memberId, email }) =>
    email === null || memberId === tokenId || mailed.includes(memberId) ? [] : [{ memberId, email }],
  )
}

/**
 * Mails a member, and records it with each of the requests.
 * @returns in how many seconds the member may get a mail, if not now; else 0
 * @throws Error when the mail was not accepted; it may then be tried again at once
 */
async function notify(
  ports: MailPorts,
  { memberId, email, notices: [first, ...others] }: Recipient,
  { tenantId, workspace, listUrl }: { tenantId: string; workspace: string; listUrl: string },
): Promise<number> {
  const bucket = `approval mail ${memberId}`
  const attempt = await ports.attempts.take([{ bucket, allowance: perMember }])
  if (!attempt.allowed) return attempt.retryAfterSeconds
  const at = momentOf(ports)
  const { mailer, from } = ports.mailing
  const requests = [first.shown, ...others.map(({ shown }) => shown)] as const
  const mail = writeApprovalMail({ to: email, workspace, requests, listUrl }, from)
  const { confirmationId } = first.confirmation
  const deliveryId = ports.deriveId('whd', 'approval', tenantId, confirmationId, memberId)
  const sending = await mailer.send({ ...mail, tenantId, deliveryId, at })
  if (!sending.taken) {
    await ports.attempts.giveBack(bucket, perMember)
    throw new Error(`the mail server rejected the mail: ${sending.problem}`)
  }
  for (const { confirmation } of [first, ...others]) {
    const cause = { causationId: confirmation.confirmationId, correlationId: confirmation.requestId }
    const command = { type: 'RecordMail', memberId, at } as const
    await changeConfirmation(ports, confirmation.confirmationId, command, {
      ...originOfProcess(),
      ...cause,
    })
  }
  return 0
}
