import { type Html, html } from '../html.ts'
import { facts, heading, notice, select, tokenField } from './parts.ts'

const path = '/dashboard/settings/approvals'

const words = {
  another: 'Another member than the one who asked',
  anyone: 'Any owner or approver',
} as const

const wordsFor = (anotherMember: boolean): string => words[anotherMember ? 'another' : 'anyone']

/** On the page of all settings. */
export function approvalRuleSummary(anotherMember: boolean, mayManage: boolean): Html {
  return html`<div class="sheet stack">
    ${facts([['Who approves', wordsFor(anotherMember)]])}
    ${mayManage && html`<div><a class="button second" href=${path}>Change</a></div>`}
  </div>`
}

type Rule = { token: string; anotherMember: boolean; able: number }

/** @param able how many members may approve by their role */
export function approvalRuleView({ token, anotherMember, able }: Rule): Html {
  return html`<div class="narrow">
    ${heading('Approvals', 'Who may approve dangerous requests of programs and members.')}
    ${
      able < 2 &&
      notice(
        'warn',
        'Only one member may approve. With another member required, nobody could approve what this member asks for: add an approver first.',
      )
    }
    <form class="sheet stack" method="post" action=${path}>
      ${tokenField(token)}
      ${select(
        'rule',
        'Who approves',
        (['anyone', 'another'] as const).map((value) => ({
          value,
          label: words[value],
          selected: (value === 'another') === anotherMember,
        })),
      )}
      <p class="hint">
        What a program asks for counts as asked for by the member who made its token. What an operator on the host made
        the token for may be approved by any owner or approver.
      </p>
      <div><button>Save</button></div>
    </form>
  </div>`
}
