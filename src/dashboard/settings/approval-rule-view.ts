import { type Html, html } from '../../html.ts'
import { facts, heading, notice, select, tokenField } from '../frame/parts.ts'

const path = '/dashboard/settings/approvals'

const words = {
  another: 'A member other than the requester',
  anyone: 'Any owner or approver',
} as const

const wordsFor = (anotherMember: boolean): string => words[anotherMember ? 'another' : 'anyone']

export type ApprovalSettings = { anotherMember: boolean; confirmationSeconds: number }

const offered = [600, 1800, 3600, 14_400, 28_800, 43_200, 86_400]

const lifetimeWords = (seconds: number): string => {
  const [count, unit] = seconds % 3600 === 0 ? [seconds / 3600, 'hour'] : [seconds / 60, 'minute']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** The section on the settings page. */
export function approvalRuleSummary(
  { anotherMember, confirmationSeconds }: ApprovalSettings,
  mayManage: boolean,
): Html {
  return html`<div class="sheet stack">
    ${facts([
      ['Approver', wordsFor(anotherMember)],
      ['Time to approve', lifetimeWords(confirmationSeconds)],
    ])}
    ${mayManage && html`<div><a class="button second" href=${path}>Change</a></div>`}
  </div>`
}

type Rule = ApprovalSettings & { token: string; able: number }

/** @param able how many members may approve by their role */
export function approvalRuleView({ token, anotherMember, confirmationSeconds, able }: Rule): Html {
  return html`<div class="narrow">
    ${heading('Approvals', 'Who can approve dangerous requests from API clients and members.')}
    ${
      able < 2 &&
      notice(
        'warn',
        'Only one member can approve requests, so another member cannot be required. Add an approver first.',
      )
    }
    <form class="sheet stack" method="post" action=${path}>
      ${tokenField(token)}
      ${select(
        'rule',
        'Approver',
        (['anyone', 'another'] as const).map((value) => ({
          value,
          label: words[value],
          selected: (value === 'another') === anotherMember,
        })),
      )}
      ${select(
        'lifetime',
        'Time to approve',
        [...new Set([...offered, confirmationSeconds])]
          .sort((one, other) => one - other)
          .map((seconds) => ({
            value: String(seconds),
            label: lifetimeWords(seconds),
            selected: seconds === confirmationSeconds,
          })),
        'A request that is not approved by then expires. Requests that were made before keep their time.',
      )}
      ${
        anotherMember &&
        html`<p class="hint">If you choose “Any owner or approver”, another member must approve the change first.</p>`
      }
      <p class="hint">
        A request with an API token counts as a request from the member who created the token. If an operator on the host
        created the token, any owner or approver can approve the request.
      </p>
      <div><button>Save</button></div>
    </form>
  </div>`
}
