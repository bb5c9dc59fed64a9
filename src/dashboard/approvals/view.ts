import { quoted } from '../../domain/plain-text.ts'
import type { Approval, Approvers, ShownApproval } from '../../gate/approvals.ts'
import type { ShownEffect } from '../../gate/effects/shown.ts'
import { type Content, type Html, html } from '../../html.ts'
import { problemOfRefusal } from '../../http/problem.ts'
import { ago, moment, timeLeft, until } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import {
  badge,
  copyable,
  empty,
  facts,
  heading,
  notice,
  section,
  sentenceList,
  type Tone,
  table,
  tokenField,
} from '../frame/parts.ts'

const statusBadge: Record<Approval['status'], readonly [tone: Tone, text: string]> = {
  pending: ['warn', 'pending'],
  approved: ['good', 'approved'],
  denied: ['bad', 'denied'],
  expired: ['plain', 'expired'],
  consumed: ['good', 'running'],
  executed: ['good', 'executed'],
}

export function approvalsView(view: View, approvals: readonly Approval[], mayDecide: boolean): Html {
  return html`<div>
    ${heading(
      'Approvals',
      'Dangerous requests from API clients and members wait here for a decision. Requests expire at the time shown, unused approvals after an hour.',
    )}
    ${approvalsPart(view, approvals, mayDecide)}
  </div>`
}

/** Updates itself with JavaScript. */
export function approvalsPart(view: View, approvals: readonly Approval[], mayDecide: boolean): Html {
  return html`<div id="approvals" hx-get="/dashboard/approvals" hx-trigger="every 5s" hx-swap="outerHTML">
    ${
      approvals.length === 0
        ? empty(
            'No pending requests',
            mayDecide
              ? 'When an API client or a member requests to revoke, export, delete or reveal something, the request ' +
                  'appears here, and the requester gets a link to it.'
              : 'Requests appear here. An owner or an approver of the workspace decides on them.',
          )
        : html`<div class="sheeted">
            ${table({
              caption: 'Pending requests',
              columns: [
                { label: 'Request' },
                { label: 'Requested by', wide: true },
                { label: 'Can be approved' },
              ],
              rows: approvals.map((approval) => row(view, approval)),
            })}
          </div>`
    }
  </div>`
}

function row(view: View, approval: Approval): Content[] {
  const { id, title, description, token, byMember, client, requestedAt, expiresAt } = approval
  return [
    html`<span
      ><a href=${`/dashboard/approvals/${id}`}>${description?.summary ?? title}</a>
      <span class="sub">${title}, requested ${ago(requestedAt, view.now)}</span></span
    >`,
    html`<span>${token.name === null ? token.id : byMember ? token.name : quoted(token.name)}<span class="sub">${client.address ?? ''}</span></span>`,
    until(expiresAt, view.now),
  ]
}

export type ApprovalPage = {
  approval: ShownApproval
  /** A hash of what is shown here. */
  seen: string
  /** Allowed by the member's role; the workspace's rule may still require another member for this one. */
  mayDecide: boolean
  mayApprove: boolean
  /** The member requested the file that this approval allows to download. */
  mayDownload: boolean
  decidedBy: string | null
  withdrawnBy: string | null
  /** The member who requested it, directly or with a token. */
  requestedBy: string | null
  problem: string | undefined
}

export function approvalView(view: View, shown: ApprovalPage): Html {
  const { approval } = shown
  return html`<div class="decision">
    ${heading(approval.title, html`Requested ${ago(approval.requestedAt, view.now)} by ${approval.byMember ? 'a member' : 'an API client'}.`)}
    ${shown.problem && notice('wrong', shown.problem)} ${approvalPart(view, shown)}
    ${section('Requester', html`<div class="sheet">${whoAsks(shown)}</div>`)}
    ${approval.approvers && section('Approvers', html`<div class="sheet">${whoMayApprove(approval.approvers)}</div>`)}
    ${section('API call', html`<div class="sheet">${theRequest(approval)}</div>`)}
  </div>`
}

/** The part that is updated while the page is open: the status, the effect and the actions. */
export function approvalPart(view: View, shown: ApprovalPage): Html {
  const { approval } = shown
  const { id, status, description } = approval
  const at = `/dashboard/approvals/${id}`
  const waits = status === 'pending' || status === 'approved'
  const isMarked = status === 'pending' && approval.changedSinceRequest
  return html`<div
    id="approval"
    class="sheet decision"
    hx-get=${waits ? at : undefined}
    hx-trigger=${waits ? 'every 5s' : undefined}
    hx-swap=${waits ? 'outerHTML' : undefined}
  >
    <p class="actions">
      ${badge(...statusBadge[status])}
      ${status === 'pending' && html`<span class="lead-line">Can be approved ${until(approval.expiresAt, view.now)}.</span>`}
      ${settled(shown)}
    </p>
    <div class="stack-tight">
      <h2 class="what">${description?.summary ?? 'The details of this request are no longer stored.'}</h2>
      ${description && about(description)}
    </div>
    ${waits && approval.effect && effectPart(approval.effect, isMarked)} ${warnings(approval, isMarked)} ${status === 'pending' && decideForms(view, shown, at)}
    ${status === 'approved' && [approval.downloads && downloadForm(view, shown, at), withdrawForm(view, shown, at)]}
  </div>`
}

function warnings({ status, impossible }: Approval, isMarked: boolean): Content {
  if (status !== 'pending') return null
  return [
    isMarked &&
      notice('warn', 'This has changed since it was requested. The text above shows the current state.'),
    impossible !== undefined &&
      notice(
        'warn',
        `This request would currently fail even if approved: ${problemOfRefusal(impossible).message}.`,
      ),
  ]
}

/** Shows the host separately, because the rest of a URL can imitate another host. */
function about({ target, details = [] }: NonNullable<Approval['description']>): Content {
  const receiver: [string, Content][] = target
    ? [
        ['Host', html`<code class="host">${target.host}</code>`],
        ['Full URL', html`<code class="whole">${target.url}</code>`],
      ]
    : []
  const all = [...receiver, ...details]
  return all.length > 0 && html`<div class="about">${facts(all)}</div>`
}

function settled({ approval, decidedBy, withdrawnBy }: ApprovalPage): Content {
  if (approval.status === 'pending' || approval.decidedAt === null) return null
  const ran =
    approval.executedAt === null
      ? null
      : html`<span>
          ${approval.outcome === 'refused' ? 'Execution was refused ' : 'Executed '}${moment(approval.executedAt)}.
        </span>`
  const by = html`<span>by ${decidedBy ?? 'an unknown member'}, ${moment(approval.decidedAt)}.</span>`
  if (approval.withdrawnAt !== null) {
    return html`<span class="lead-line">
      Approved ${by} Withdrawn by ${withdrawnBy ?? 'an unknown member'}, ${moment(approval.withdrawnAt)}.
    </span>`
  }
  if (approval.status === 'expired')
    return html`<span class="lead-line">Approved ${by} Expired unused.</span>`
  const left =
    approval.status === 'approved' &&
    html`<span>${timeLeft(approval.usableForSeconds)} left to use it.</span>`
  return html`<span class="lead-line">${by} ${left} ${ran}</span>`
}

function decideForms(view: View, { approval, mayDecide, mayApprove, seen }: ApprovalPage, at: string): Html {
  if (!mayDecide) return html`<p class="lead">Only an owner or an approver of the workspace can decide.</p>`
  return html`<div class="decide">
    ${mayApprove ? approveForm(view, seen, at) : html`<p class="lead">${whyNot(approval)}</p>`}
    <form method="post" action=${`${at}/deny`}>${tokenField(view.token)}<button class="second">Deny</button></form>
  </div>`
}

const whyNot = ({ approvers }: ShownApproval): string =>
  approvers?.permission === 'manage_members'
    ? 'Only an owner of the workspace can approve this.'
    : 'You made this request, so another member must approve it.'

const approveForm = (view: View, seen: string, at: string): Html =>
  html`<form method="post" action=${`${at}/approve`}>
    ${tokenField(view.token)}
    <input type="hidden" name="seen" value=${seen} />
    <button class="dangerous">Approve</button>
  </form>`

function downloadForm(view: View, { mayDownload }: ApprovalPage, at: string): Html {
  if (!mayDownload)
    return html`<p class="lead">The member who requested the file can download it here, once.</p>`
  return html`<div class="decide">
    <form method="post" action=${`${at}/download`}>${tokenField(view.token)}<button>Download file</button></form>
    <p class="hint">This works once. If the download is interrupted, request it again.</p>
  </div>`
}

function withdrawForm(view: View, { mayDecide }: ApprovalPage, at: string): Content {
  if (!mayDecide) return null
  return html`<div class="decide">
    <form method="post" action=${`${at}/withdraw`}>
      ${tokenField(view.token)}<button class="second">Withdraw approval</button>
    </form>
  </div>`
}

/** Separates what the requester reports about itself from what keyledger knows. */
function whoAsks({ approval, requestedBy }: ApprovalPage): Html {
  const { token, byMember, client, requestedAt } = approval
  return facts([
    byMember ? ['Member', token.name ?? token.id] : ['Token', tokenWords(token)],
    !byMember && approval.approvers && ['Token created by', requestedBy ?? 'an operator on the host'],
    ['IP address', client.address === null ? 'not recorded' : html`<code>${client.address}</code>`],
    ['Client', client.userAgent === null ? 'not reported' : `${quoted(client.userAgent)}, self-reported`],
    ['Requested', moment(requestedAt)],
  ])
}

const tokenWords = ({ id, name }: Approval['token']): Html =>
  html`<a href=${`/dashboard/tokens/${id}`}><code>${id}</code></a>
    ${name !== null && html`<span class="sub">named ${quoted(name)} by its creator</span>`}`

function whoMayApprove({ anotherMember, members }: Approvers): Html {
  const who = members.map(({ memberId, email }) => email ?? memberId).join(', ')
  return html`<div class="stack-tight">
    <p>${who === '' ? 'No member of the workspace. An operator on the host can approve.' : who}</p>
    <p class="hint">
      ${
        anotherMember
          ? 'This workspace requires approval by a member other than the requester.'
          : 'Owners and approvers of the workspace, including the requester.'
      }
    </p>
  </div>`
}

function theRequest({ id, method, path, parameters }: Approval): Html {
  return facts([
    ['Call', html`<code>${method} ${path}</code>`],
    ...Object.entries(parameters).map(([name, value]): [string, Content] => [
      name,
      html`<code>${value}</code>`,
    ]),
    ['Confirmation', copyable('confirmation ID', id)],
  ])
}

/**
 * What a waiting request would change now, and whether that is what it would have changed when it was made.
 * @param isMarked whether the page already says that something has changed
 */
function effectPart({ refusal, sentences, sinceAsked }: ShownEffect, isMarked: boolean): Content {
  if (refusal !== null) return null
  return html`<section class="effect" aria-labelledby="effect">
    <h3 id="effect">What changes</h3>
    ${sentences.length === 0 ? html`<p>Nothing: everything is already as requested.</p>` : sentenceList(sentences)}
    ${comparison(sinceAsked, isMarked)}
  </section>`
}

function comparison(sinceAsked: ShownEffect['sinceAsked'], isMarked: boolean): Content {
  if (!sinceAsked) return null
  const { before, now } = sinceAsked
  if (before.length === 0 && now.length === 0)
    return isMarked ? null : html`<p class="hint">The same now as when it was requested.</p>`
  return [
    !isMarked && notice('warn', 'What changes is different from when it was requested.'),
    before.length > 0
      ? difference('When it was requested, it would have changed', before)
      : difference('New since it was requested', now),
  ]
}

const difference = (title: string, sentences: readonly string[]): Html =>
  html`<p class="difference">${title}:</p>${sentenceList(sentences)}`
