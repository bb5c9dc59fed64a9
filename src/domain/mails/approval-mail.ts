import { plainText, quoted } from '../plain-text.ts'
import { asHtml, asText, type Part, paragraph } from './content.ts'
import type { Correspondent, WrittenMail } from './template.ts'

/** What a mail says of a request. The request itself may hold secrets and is shown only on its page. */
export type MailedRequest = {
  /** The kind of operation: `Revoke a license`. */
  title: string
  requester: { kind: 'program' | 'member'; name: string | null }
  expiresAt: string
  url: string
}

/** The contents of a mail to a member who may approve. */
export type ApprovalMailFacts = {
  /** The member's address. */
  to: string
  workspace: string
  /** At least one, the one that expires first at the top. */
  requests: readonly [MailedRequest, ...MailedRequest[]]
  /** The page of all waiting requests. */
  listUrl: string
}

/**
 * Writes the mail that notifies a member of requests for approval. Text from others is quoted.
 * @param sender the installation's address, and its name if it has one
 */
export function writeApprovalMail(facts: ApprovalMailFacts, sender: Correspondent): WrittenMail {
  const { to, workspace, requests, listUrl } = facts
  const [first, ...others] = requests
  const isOne = others.length === 0
  const subject = `Approval needed: ${isOne ? first.title : `${requests.length} requests`} (${plainText(workspace)})`
  const content: Part[] = [
    paragraph('Hello,'),
    paragraph(
      isOne
        ? `A request in the workspace ${quoted(workspace)} needs an approval:`
        : `${requests.length} requests in the workspace ${quoted(workspace)} need an approval:`,
    ),
    ...requests.map((request): Part => ({ kind: 'facts', facts: factsOf(request) })),
    paragraph(`See what will happen, and approve or deny ${isOne ? 'it' : 'them'}:`),
    isOne
      ? { kind: 'link', label: 'Review the request', url: first.url }
      : { kind: 'link', label: 'Review the requests', url: listUrl },
    paragraph(
      `${isOne ? 'If it' : 'If a request'} is not approved in time, nothing happens. You receive this email because you can approve requests in this workspace.`,
    ),
  ]
  return {
    from: { name: sender.name ?? 'keyledger', email: sender.email },
    replyTo: null,
    to: { name: null, email: to },
    subject,
    text: asText(content),
    html: asHtml('en', subject, content),
  }
}

const factsOf = ({ title, requester, expiresAt }: MailedRequest): (readonly [string, string])[] => [
  ['Request', title],
  ['Requested by', requesterName(requester)],
  ['Can be approved until', deadline.format(new Date(expiresAt)).concat(' UTC')],
]

/** `24 November 2026 at 15:40`: a mail may be read on another day, in another time zone. */
const deadline = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

function requesterName({ kind, name }: MailedRequest['requester']): string {
  if (kind === 'member') return name === null ? 'a member' : plainText(name)
  return name === null ? 'an API client' : `an API client with the token ${quoted(name)}`
}
