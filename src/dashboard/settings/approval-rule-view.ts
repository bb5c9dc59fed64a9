import { type Html, html } from '../../html.ts'
import { facts, heading, notice, select, tokenField } from '../frame/parts.ts'

const path = '/dashboard/settings/approvals'

const words = {
  another: 'A member other than the requester',
  anyone: 'Any owner or approver',
} as const

const wordsFor = (anotherMember: boolean): string => words[anotherMember ? 'another' : 'anyone']

/** The section on the settings page. */
export function approvalRuleSummary(anotherMember: boolean, mayManage: boolean): Html {
  return html`<div class="sheet stack">
    ${facts([['Approver', wordsFor(anotherMember)]])}
    ${mayManage && html`<div><a class="button second" href=${path}>Change</a></div>`}
  </div>`
}

type Rule = { token: string; anotherMember: boolean; able: number }

/** @param able how many members may approve by their role */
export function approvalRuleView({ token, anotherMember, able }: Rule): Html {
  return html`<div class="narrow">
    ${heading('Approvals', 'Who can approve dangerous requests from API clients and members.')}
    ${
      able < 2 &&
      notice(
        'warn',
        'Only one member can approve requests. If another member is required, requests from this member cannot be approved. Add an approver first.',
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
      <p class="hint">
        A request with an API token counts as a request from the member who created the token. If an operator on the host
        created the token, any owner or approver can approve the request.
      </p>
      <div><button>Save</button></div>
    </form>
  </div>`
}
