import { plainText, quoted } from '../plain-text.ts'
import type { Correspondent, WrittenMail } from './template.ts'

/** What a member who may approve is told; the request itself, which may hold secrets, stays on its page. */
export type ApprovalMailFacts = {
  /** The address of the member. */
  to: string
  workspace: string
  /** What kind of thing is asked for: `Revoke a license`. */
  title: string
  requester: { kind: 'program' | 'member'; name: string | null }
  expiresAt: string
  url: string
}

/**
 * Writes the mail that tells a member of a request for approval. What others have written stands in it quoted.
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
