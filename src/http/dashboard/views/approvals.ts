import type { Approval } from '../../../gate/approvals.ts'
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
      'Dangerous requests of programs and members wait here until a person has looked at them. After ten minutes they expire.',
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
  const { id, title, description, token, client, askedAt, expiresInSeconds } = approval
  return [
    html`<span
      ><a href=${`/dashboard/approvals/${id}`}>${description?.summary ?? title}</a>
      <span class="sub">${title}, asked ${ago(askedAt, view.now)}</span></span
    >`,
    html`<span>${token.name ?? token.id}<span class="sub">${client.address}</span></span>`,
    timeLeft(expiresInSeconds),
  ]
}

export type ShownApproval = {
  approval: Approval
  /** What of it is shown here, as a hash. */
  seen: string
  mayDecide: boolean
  fresh: boolean
  decidedBy: string | null
  problem: string | undefined
}

export function approvalView(view: View, shown: ShownApproval): Html {
  const { approval } = shown
  return html`<div class="decision">
    ${heading(approval.title, html`Asked ${ago(approval.askedAt, view.now)} by ${approval.byMember ? 'a member' : 'a program'}.`)}
    ${shown.problem && notice('wrong', shown.problem)} ${approvalPart(view, shown)}
    ${section('Who asks', html`<div class="sheet">${whoAsks(approval)}</div>`)}
    ${section('The request itself', html`<div class="sheet">${theRequest(approval)}</div>`)}
  </div>`
}

/** What changes while somebody looks at it: the state, what would happen, and what can be done. */
export function approvalPart(view: View, shown: ShownApproval): Html {
  const { approval } = shown
  const { id, status, description } = approval
  const at = `/dashboard/approvals/${id}`
  const waits = status === 'pending'
  return html`<div
    id="approval"
    class="sheet decision"
    hx-get=${waits ? at : undefined}
    hx-trigger=${waits ? 'every 5s' : undefined}
    hx-swap=${waits ? 'outerHTML' : undefined}
  >
    <p class="actions">
      ${badge(...statusBadge[status])}
      ${waits && html`<span class="lead-line">${timeLeft(approval.expiresInSeconds)} left</span>`}
      ${settled(approval, shown.decidedBy)}
    </p>
    <div class="stack-tight">
      <h2 class="what">${description?.summary ?? 'What it asked for is no longer kept.'}</h2>
      ${
        description &&
        description.consequences.length > 0 &&
        html`<ul class="consequences">
          ${description.consequences.map((text) => html`<li>${text}</li>`)}
        </ul>`
      }
    </div>
    ${warnings(approval)} ${waits && decideForms(view, shown, at)}
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

function settled(approval: Approval, decidedBy: string | null): Content {
  if (approval.status === 'pending' || approval.decidedAt === null) return null
  const ran =
    approval.executedAt === null
      ? null
      : html`<span>
          ${approval.outcome === 'refused' ? 'It was refused when it ran, ' : 'It ran '}${moment(approval.executedAt)}.
        </span>`
  return html`<span class="lead-line">by ${decidedBy ?? 'somebody'}, ${moment(approval.decidedAt)}. ${ran}</span>`
}

function decideForms(view: View, { mayDecide, fresh, seen }: ShownApproval, at: string): Html {
  if (!mayDecide) return html`<p class="lead">Only an owner or an approver of the workspace can decide.</p>`
  return html`<div class="decide">
    ${
      fresh
        ? html`<form method="post" action=${`${at}/approve`}>
            ${tokenField(view.token)}
            <input type="hidden" name="seen" value=${seen} />
            <button class="dangerous">Approve</button>
          </form>`
        : html`<a class="button" href=${leadingTo('/dashboard/confirm', at)}>Confirm that it is you to approve</a>`
    }
    <form method="post" action=${`${at}/deny`}>${tokenField(view.token)}<button class="second">Deny</button></form>
  </div>`
}

function whoAsks({ token, byMember, client, askedAt }: Approval): Html {
  const name = token.name ?? token.id
  return facts([
    byMember ? ['Member', name] : ['Token', html`<a href=${`/dashboard/tokens/${token.id}`}>${name}</a>`],
    ['Address', html`<code>${client.address}</code>`],
    ['Program', client.userAgent ?? 'does not say'],
    ['Asked', moment(askedAt)],
  ])
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
