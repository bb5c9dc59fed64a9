import { plainText, quoted } from '../plain-text.ts'
import type { Correspondent, WrittenMail } from './template.ts'

/**
 * The contents of a mail to a member who may approve. The request itself may hold secrets and is shown only
 * on its page.
 */
export type ApprovalMailFacts = {
  /** The member's address. */
  to: string
  workspace: string
  /** The kind of operation: `Revoke a license`. */
  title: string
  requester: { kind: 'program' | 'member'; name: string | null }
  expiresAt: string
  url: string
}

/**
 * Writes the mail that notifies a member of a request for approval. Text from others is quoted.
 * @param sender the installation's address, and its name if it has one
 */
export function writeApprovalMail(facts: ApprovalMailFacts, sender: Correspondent): WrittenMail {
  const { to, workspace, title, requester, expiresAt, url } = facts
  return {
    from: { name: sender.name ?? 'keyledger', email: sender.email },
    replyTo: null,
    to: { name: null, email: to },
    subject: `Approval needed: ${title} (${plainText(workspace)})`,
    text: `Hello,

A request in the workspace ${quoted(workspace)} needs an approval:

    ${title}

Requested by: ${requesterName(requester)}
Expires at: ${expiresAt.slice(11, 16)} UTC

See what will happen, and approve or deny it:

    ${url}

If it is not approved in time, nothing happens. You receive this email because you can approve requests in this workspace.
`,
    html: null,
  }
}

function requesterName({ kind, name }: ApprovalMailFacts['requester']): string {
  if (kind === 'member') return name === null ? 'a member' : plainText(name)
  return name === null ? 'an API client' : `an API client with the token ${quoted(name)}`
}
