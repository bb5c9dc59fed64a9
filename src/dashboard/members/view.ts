import type { ListedMember } from '../../../projections/members.ts'
import { memberIn } from '../../access/member-sessions.ts'
import type { ListedSession } from '../../access/sessions.ts'
import type { signInMethods } from '../../commands/members/set-up.ts'
import { type GivenRole, type HeldRole, may, roleName, roleSummary } from '../../domain/members/roles.ts'
import { type Content, type Html, html } from '../../html.ts'
import { browserName } from '../account/view.ts'
import { ago, dayOf, moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import {
  badge,
  copyable,
  facts,
  field,
  heading,
  secretBox,
  section,
  table,
  tokenField,
} from '../frame/parts.ts'
import { heldRole, type Roles, roleChoices } from './role-names.ts'

type Members = {
  /** Of the workspace, besides those that are built in. */
  roles: Roles
  rows: readonly { member: ListedMember; email: string | null; link: { expiresAt: string } | undefined }[]
  role: HeldRole
  memberId: string
}

export function membersView(view: View, { rows, roles, role, memberId }: Members): Html {
  const mayManage = may(role, 'manage_members')
  const add =
    mayManage &&
    html`<span class="actions"><a class="button second" href="/dashboard/members/roles">Roles</a> <a class="button" href="/dashboard/members/new">Add member</a></span>`
  return html`<div>
    ${heading('Members', 'Members of this workspace.', add)}
    <div class="sheeted">
      ${table({
        caption: 'Members',
        columns: [{ label: 'Member' }, { label: 'Role' }, { label: 'Added', wide: true }],
        rows: rows.map(({ member, email, link }): Content[] => [
          html`<span
            >${nameOf(member, email, mayManage)} ${member.memberId === memberId && badge('plain', 'you')}
            ${withoutAccess(member)}
            ${link && html`<span class="sub">one-time link valid until ${moment(link.expiresAt)}</span>`}</span
          >`,
          roleCell(heldRole(roles, member.role)),
          ago(member.createdAt, view.now),
        ]),
      })}
    </div>
  </div>`
}

const roleCell = (role: HeldRole): Html =>
  html`<span>${roleName(role)}<span class="sub wide">${roleSummary(role)}</span></span>`

const withoutAccess = ({ status }: ListedMember): Content =>
  status === 'deactivated' && badge('warn', 'no access')

function nameOf({ memberId }: ListedMember, email: string | null, mayManage: boolean): Content {
  const name = email ?? memberId
  return mayManage ? html`<a href=${`/dashboard/members/${memberId}`}>${name}</a>` : name
}

function roleBoxes(roles: Roles, chosen: GivenRole, unseen = false): Html {
  return html`<fieldset>
    <legend class=${unseen && 'unseen'}>Role</legend>
    ${roleChoices(roles).map(
      ([role, name]) => html`<div class="check">
        <input
          type="radio"
          id=${`role-${role}`}
          name="role"
          value=${role}
          checked=${role === chosen}
          aria-describedby=${`role-${role}-words`}
        />
        <label for=${`role-${role}`}>${name}</label>
        <p class="hint" id=${`role-${role}-words`}>${roleSummary(heldRole(roles, role))}</p>
      </div>`,
    )}
  </fieldset>`
}

type NewMember = { token: string; roles: Roles; email: string; role: GivenRole; problem: string | undefined }

export function newMemberView({ token, roles, email, role, problem }: NewMember): Html {
  return html`<div class="narrow">
    ${heading('New member', 'You get a one-time link to pass on. The member uses it to set up how they sign in.')}
    <form class="sheet stack" method="post" action="/dashboard/members">
      ${tokenField(token)}
      ${field({ name: 'email', label: 'Email', type: 'email', value: email, error: problem, maxlength: 320 })}
      ${roleBoxes(roles, role)}
      <div class="decide">
        <button>Add and create link</button>
        <a class="button second" href="/dashboard/members">Cancel</a>
      </div>
    </form>
  </div>`
}

export function linkView(link: string, email: string | null, expiresAt: string): Html {
  return html`<div class="narrow">
    ${heading('One-time link', html`For ${email ?? 'the member'}. Share it through a private channel.`)}
    <div class="sheet stack">
      ${secretBox('Link', link)}
      <p class="lead">
        The link works once, until ${moment(expiresAt)}, and is shown only here. Using it replaces the member's current
        sign-in methods.
      </p>
      <p><a class="button second" href="/dashboard/members">I have copied it</a></p>
    </div>
  </div>`
}

type OneMember = {
  roles: Roles
  member: ListedMember
  email: string | null
  ways: Awaited<ReturnType<typeof signInMethods>>
  sessions: readonly ListedSession[]
  /** The names of the active tokens that they created. */
  tokens: readonly string[]
  isSelf: boolean
}

/** The sentence about tokens that stop working with the member. */
const endingTokens = (names: readonly string[]): string =>
  names.length === 0
    ? 'They have no active API tokens.'
    : `The API tokens that they created stop working: ${names.map((name) => `“${name}”`).join(', ')}.`

/** A person of a reseller leads to the reseller. */
const roleOf = (roles: Roles, { role, resellerId }: ListedMember): Content =>
  resellerId === undefined
    ? roleName(heldRole(roles, role))
    : html`<a href=${`/dashboard/resellers/${resellerId}`}>${role}</a>`

function directoryWords(member: ListedMember): string {
  if (member.status === 'present') return 'managed by it; the role follows its groups where they are mapped'
  return member.reason === 'no_role'
    ? 'no access, since no group gives a role'
    : 'deactivated there; reactivate the member there'
}

export function memberView(
  view: View,
  { roles, member, email, ways, sessions, tokens, isSelf }: OneMember,
): Html {
  const { memberId, role, createdAt } = member
  const at = `/dashboard/members/${memberId}`
  const waysText = [
    ways.password && 'password and authenticator app',
    ways.passkeys.length > 0 &&
      `${ways.passkeys.length} ${ways.passkeys.length === 1 ? 'passkey' : 'passkeys'}`,
  ].filter(Boolean)
  return html`<div>
    ${heading(email ?? memberId, copyable('member ID', memberId))}
    <div class="sheet">
      ${facts([
        ['Role', roleOf(roles, member)],
        ...(member.directory ? ([['Directory', directoryWords(member)]] as const) : []),
        ['Member since', dayOf(createdAt)],
        ['Sign-in methods', waysText.length === 0 ? 'none yet' : waysText.join(', ')],
      ])}
    </div>
    ${isSelf && section('Your membership', html`<p>Manage <a href="/dashboard/account">your account</a> to change how you sign in. Another owner can change your role or remove you.</p>`)}
    ${!isSelf && member.status === 'present' && role !== 'reseller' && section('Role', form(view, `${at}/role`, roleBoxes(roles, role, true), html`<button class="second">Change role</button>`))}
    ${section('Sessions', sessionsView(view, sessions, at, isSelf))}
    ${
      !isSelf &&
      member.status === 'present' &&
      section(
        'Account recovery',
        form(view, `${at}/link`, null, html`<button class="second">Create one-time link</button>`),
        'The member uses the link to set up new sign-in methods. Their current ones stop working when the link is used.',
      )
    }
    ${
      !isSelf &&
      section(
        'Removal',
        html`<details>
        <summary>Remove ${email ?? memberId}…</summary>
        ${form(view, `${at}/remove`, null, html`<button class="dangerous">Remove member</button>`)}
      </details>`,
        html`The member is signed out everywhere immediately. ${endingTokens(tokens)} Their past actions stay in the history.`,
      )
    }
  </div>`
}

function form(view: View, action: string, content: Content, button: Html): Html {
  return html`<form class="sheet stack" method="post" action=${action}>${tokenField(view.token)} ${content}<div>${button}</div></form>`
}

function sessionsView(view: View, sessions: readonly ListedSession[], at: string, isSelf: boolean): Html {
  if (sessions.length === 0) return html`<p class="lead">No active sessions.</p>`
  const rows = sessions.map(({ data, createdAt, lastSeenAt }): Content[] => {
    const member = memberIn(data)
    return [
      html`<span>${browserName(member?.userAgent ?? null)}<span class="sub">${member?.address ?? ''}</span></span>`,
      ago(createdAt, view.now),
      ago(lastSeenAt, view.now),
    ]
  })
  const columns = [{ label: 'Browser' }, { label: 'Signed in', wide: true }, { label: 'Last seen' }]
  return html`<div class="stack">
    <div class="sheeted">${table({ caption: 'Sessions', columns, rows })}</div>
    ${!isSelf && form(view, `${at}/sessions/end`, null, html`<button class="second">Sign out everywhere</button>`)}
  </div>`
}
