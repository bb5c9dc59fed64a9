import { quoted } from '../../../domain/plain-text.ts'
import type { Approval, Approvers, ShownApproval as Found } from '../../../gate/approvals.ts'
import { problemOfRefusal } from '../../problem.ts'
import { type Content, type Html, html } from '../html.ts'
import type { View } from '../page.ts'
import { leadingTo } from '../return-path.ts'
import { ago, moment, timeLeft } from './moments.ts'
import { badge, empty, facts, heading, notice, section, type Tone, table, tokenField } from './parts.ts'

const statusBadge: Record<Approval['status'], readonly [tone: Tone, text: string]> = {
  pending: ['warn', 'waiting'],
  approved: ['good', 'approved'],
  denied: ['bad', 'denied'],
  expired: ['plain', 'expired'],
  consumed: ['good', 'approved, running'],
  executed: ['good', 'approved and done'],
}

export function approvalsView(view: View, approvals: readonly Approval[], mayDecide: boolean): Html {
  return html`<div>
    ${heading(
      'Approvals',
      'Dangerous requests of programs and members wait here until a member decides. They expire after ten minutes, approvals that are not used after an hour.',
    )}
    ${approvalsPart(view, approvals, mayDecide)}
  </div>`
}

/** Brings itself up to date, where there is JavaScript. */
export function approvalsPart(view: View, approvals: readonly Approval[], mayDecide: boolean): Html {
  return html`<div id="approvals" hx-get="/dashboard/approvals" hx-trigger="every 5s" hx-swap="outerHTML">
    ${
      approvals.length === 0
        ? empty(
            'Nothing waits for you',
            mayDecide
              ? 'When a program or a member asks to revoke, export, delete or reveal something, it gets a link to this place, ' +
                  'and the request shows up here.'
              : 'Requests show up here. An owner or an approver of the workspace decides about them.',
          )
        : html`<div class="sheeted">
            ${table({
              caption: 'Requests that wait',
              columns: [{ label: 'Request' }, { label: 'Asked by', wide: true }, { label: 'Time left' }],
              rows: approvals.map((approval) => row(view, approval)),
            })}
          </div>`
    }
  </div>`
}

function row(view: View, approval: Approval): Content[] {
  const { id, title, description, token, byMember, client, askedAt, expiresInSeconds } = approval
  return [
    html`<span
      ><a href=${`/dashboard/approvals/${id}`}>${description?.summary ?? title}</a>
      <span class="sub">${title}, asked ${ago(askedAt, view.now)}</span></span
    >`,
    html`<span>${token.name === null ? token.id : byMember ? token.name : quoted(token.name)}<span class="sub">${client.address}</span></span>`,
    timeLeft(expiresInSeconds),
  ]
}

export type ShownApproval = {
  approval: Found
  /** What of it is shown here, as a hash. */
  seen: string
  /** By their role; to approve this one, the workspace's rule may want somebody else. */
  mayDecide: boolean
  mayApprove: boolean
  fresh: boolean
  decidedBy: string | null
  withdrawnBy: string | null
  /** The member who asked, by themselves or with a token that they made. */
  askedBy: string | null
  problem: string | undefined
}

export function approvalView(view: View, shown: ShownApproval): Html {
  const { approval } = shown
  return html`<div class="decision">
    ${heading(approval.title, html`Asked ${ago(approval.askedAt, view.now)} by ${approval.byMember ? 'a member' : 'a program'}.`)}
    ${shown.problem && notice('wrong', shown.problem)} ${approvalPart(view, shown)}
    ${section('Who asks', html`<div class="sheet">${whoAsks(shown)}</div>`)}
    ${approval.approvers && section('Who may approve', html`<div class="sheet">${whoMayApprove(approval.approvers)}</div>`)}
    ${section('The request itself', html`<div class="sheet">${theRequest(approval)}</div>`)}
  </div>`
}

/** What changes while somebody looks at it: the state, what would happen, and what can be done. */
export function approvalPart(view: View, shown: ShownApproval): Html {
  const { approval } = shown
  const { id, status, description, counted } = approval
  const at = `/dashboard/approvals/${id}`
  const waits = status === 'pending' || status === 'approved'
  const sentences = [counted ?? [], description?.consequences ?? []].flat()
  return html`<div
    id="approval"
    class="sheet decision"
    hx-get=${waits ? at : undefined}
    hx-trigger=${waits ? 'every 5s' : undefined}
    hx-swap=${waits ? 'outerHTML' : undefined}
  >
    <p class="actions">
      ${badge(...statusBadge[status])}
      ${status === 'pending' && html`<span class="lead-line">${timeLeft(approval.expiresInSeconds)} left</span>`}
      ${settled(shown)}
    </p>
    <div class="stack-tight">
      <h2 class="what">${description?.summary ?? 'What it asked for is no longer kept.'}</h2>
      ${description?.target && target(description.target)}
      ${
        sentences.length > 0 &&
        html`<ul class="consequences">
          ${sentences.map((text) => html`<li>${text}</li>`)}
        </ul>`
      }
    </div>
    ${warnings(approval)} ${status === 'pending' && decideForms(view, shown, at)}
    ${status === 'approved' && withdrawForm(view, shown, at)}
  </div>`
}

function warnings({ status, changedSinceAsked, impossible }: Approval): Content {
  if (status !== 'pending') return null
  return [
    changedSinceAsked &&
      notice(
        'warn',
        'Something about this has changed since it was asked. What stands above is how it is now.',
      ),
    impossible !== undefined &&
      notice(
        'warn',
        `As things stand it could not run, approved or not: ${problemOfRefusal(impossible).message}.`,
      ),
  ]
}

/** The host by itself, as it is connected to: the rest of a URL can be made to look like another one. */
const target = ({ host, url }: { host: string; url: string }): Html =>
  html`<div class="target">
    ${facts([
      ['Host', html`<code class="host">${host}</code>`],
      ['Whole URL', html`<code class="whole">${url}</code>`],
    ])}
  </div>`

function settled({ approval, decidedBy, withdrawnBy }: ShownApproval): Content {
  if (approval.status === 'pending' || approval.decidedAt === null) return null
  const ran =
    approval.executedAt === null
      ? null
      : html`<span>
          ${approval.outcome === 'refused' ? 'It was refused when it ran, ' : 'It ran '}${moment(approval.executedAt)}.
        </span>`
  const by = html`<span>by ${decidedBy ?? 'an unknown person'}, ${moment(approval.decidedAt)}.</span>`
  if (approval.withdrawnAt !== null) {
    return html`<span class="lead-line">
      Approved ${by} Withdrawn by ${withdrawnBy ?? 'an unknown person'}, ${moment(approval.withdrawnAt)}.
    </span>`
  }
  if (approval.status === 'expired')
    return html`<span class="lead-line">Approved ${by} Not used in time.</span>`
  const left =
    approval.status === 'approved' &&
    html`<span>${timeLeft(approval.usableForSeconds)} left to use it.</span>`
  return html`<span class="lead-line">${by} ${left} ${ran}</span>`
}

function decideForms(view: View, { mayDecide, mayApprove, fresh, seen }: ShownApproval, at: string): Html {
  if (!mayDecide) return html`<p class="lead">Only an owner or an approver of the workspace can decide.</p>`
  return html`<div class="decide">
    ${mayApprove ? approveForm(view, fresh, seen, at) : html`<p class="lead">You asked for this, so another member has to approve it.</p>`}
    <form method="post" action=${`${at}/deny`}>${tokenField(view.token)}<button class="second">Deny</button></form>
  </div>`
}

const approveForm = (view: View, fresh: boolean, seen: string, at: string): Html =>
  fresh
    ? html`<form method="post" action=${`${at}/approve`}>
            ${tokenField(view.token)}
            <input type="hidden" name="seen" value=${seen} />
            <button class="dangerous">Approve</button>
          </form>`
    : html`<a class="button" href=${leadingTo('/dashboard/confirm', at)}>Confirm that it is you to approve</a>`

function withdrawForm(view: View, { mayDecide }: ShownApproval, at: string): Content {
  if (!mayDecide) return null
  return html`<div class="decide">
    <form method="post" action=${`${at}/withdraw`}>
      ${tokenField(view.token)}<button class="second">Withdraw the approval</button>
    </form>
  </div>`
}

/** What the one who asks says of themselves is told from what is known of them. */
function whoAsks({ approval, askedBy }: ShownApproval): Html {
  const { token, byMember, client, askedAt } = approval
  return facts([
    byMember ? ['Member', token.name ?? token.id] : ['Token', tokenWords(token)],
    !byMember && approval.approvers && ['Token made by', askedBy ?? 'an operator on the host'],
    ['Address', html`<code>${client.address}</code>`],
    ['Program', client.userAgent === null ? 'does not say' : `says it is ${quoted(client.userAgent)}`],
    ['Asked', moment(askedAt)],
  ])
}

const tokenWords = ({ id, name }: Approval['token']): Html =>
  html`<a href=${`/dashboard/tokens/${id}`}><code>${id}</code></a>
    ${name !== null && html`<span class="sub">called ${quoted(name)} by whoever made it</span>`}`

function whoMayApprove({ anotherMember, members }: Approvers): Html {
  const who = members.map(({ memberId, email }) => email ?? memberId).join(', ')
  return html`<div class="stack-tight">
    <p>${who === '' ? 'No member of the workspace. An operator on the host may.' : who}</p>
    <p class="hint">
      ${
        anotherMember
          ? 'In this workspace another member has to approve than the one who asked.'
          : 'Owners and approvers of the workspace; whoever asked may approve it themselves.'
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
    ['Confirmation', html`<code>${id}</code>`],
  ])
}
