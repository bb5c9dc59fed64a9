import type { OpenedPerson } from '../../commands/organizations/read-people.ts'
import type { OrganizationRole } from '../../domain/organizations/events.ts'
import { maxPersonName } from '../../domain/organizations/list.ts'
import { dayIn } from '../../domain/portal/texts.ts'
import { type Content, type Html, html } from '../../html.ts'
import { formOf } from '../form.ts'
import type { Visit } from '../visit.ts'
import { plainNameOf, type ShownOrganization } from './organization.ts'

export const pathOf = ({ home }: Visit, { customerId }: ShownOrganization): string =>
  `${home}/organizations/${customerId}`

/** The name of an organization, in a sentence. */
export const nameOf = ({ say }: Visit, { name }: ShownOrganization): string =>
  name ?? say('organizationUnnamed')

export const roleWords = ({ say }: Visit, role: OrganizationRole): string =>
  say(role === 'administrator' ? 'roleAdministrator' : 'roleMember')

/** A person's name, else their address. */
export const personWords = ({ say }: Visit, person: OpenedPerson): string =>
  plainNameOf(person) ?? person.email ?? say('personUnknown')

export type Typed = { email: string; name: string; role: OrganizationRole; wrong: boolean }

/** The people of an organization. @param next leads to the following ones, if there are more */
export function peopleView(
  visit: Visit,
  organization: ShownOrganization,
  { people, next }: { people: readonly OpenedPerson[]; next: string | null },
  typed: Typed,
): Html {
  const { say, home } = visit
  const path = pathOf(visit, organization)
  const mayManage = organization.role === 'administrator'
  return html`<section>
    <p><a href=${home}>${say('back')}</a></p>
    <h1>${say('organizationTitle')}</h1>
    <p class="lead">${say('organizationLead', { organization: nameOf(visit, organization) })}</p>
    ${!mayManage && html`<p>${say('organizationMemberLead')}</p>`}
    <div class="sheet">
      <ul>${people.map((person) => personRow(visit, organization, person))}</ul>
    </div>
    ${next !== null && html`<p><a class="button second" href=${`${path}?after=${next}`}>${say('morePeople')}</a></p>`}
    ${mayManage && inviteForm(visit, path, typed)}
    <p class="actions">
      ${
        mayManage &&
        html`<a class="button second" href=${`${path}/list`}>${say('inviteListLink')}</a>
          <a class="button second" href=${`${path}/people.csv`} download>${say('peopleDownload')}</a>
          <a class="button second" href=${`${path}/usage`}>${say('usageTitle')}</a>
          <a class="button second" href=${`${path}/purchases`}>${say('purchasesTitle')}</a>
          <a class="button second" href=${`${path}/acts`}>${say('organizationActsLink')}</a>`
      }
      <a class="button second" href=${`${path}/leave`}>${say('leaveLink')}</a>
    </p>
  </section>`
}

function personRow(visit: Visit, organization: ShownOrganization, person: OpenedPerson): Html {
  const { say, language } = visit
  const isMe = person.personId === organization.personId
  const words = personWords(visit, person)
  const since = say('personSince', { date: dayIn(language, person.addedAt) })
  const invited =
    person.invitedAt !== null && say('personInvited', { date: dayIn(language, person.invitedAt) })
  return html`<li class="device">
    <div>
      <p class="name">${words}${isMe && ` (${say('personYou')})`}</p>
      ${person.name !== null && person.email !== null && html`<p class="soft">${person.email}</p>`}
      <p class="soft">${[roleWords(visit, person.role), invited || since].join(' · ')}</p>
    </div>
    ${
      organization.role === 'administrator' &&
      !isMe &&
      html`<div class="actions">
        <a
          class="button second"
          href=${`${pathOf(visit, organization)}/people/${person.personId}`}
          aria-label=${`${say('personManage')}: ${words}`}
          >${say('personManage')}</a
        >
      </div>`
    }
  </li>`
}

function inviteForm(visit: Visit, path: string, typed: Typed): Html {
  const { say } = visit
  const fields = html`<p>${say('inviteLead')}</p>
    <div class="field">
      <label for="email">${say('emailLabel')}</label>
      <input
        type="email"
        id="email"
        name="email"
        value=${typed.email}
        autocomplete="off"
        required
        maxlength="254"
        aria-invalid=${typed.wrong ? 'true' : undefined}
        aria-describedby=${typed.wrong ? 'email-error' : undefined}
      />
      ${typed.wrong && html`<p class="error" id="email-error">${say('emailWrong')}</p>`}
    </div>
    <div class="field">
      <label for="name">${say('personNameLabel')}</label>
      <input type="text" id="name" name="name" value=${typed.name} autocomplete="off" maxlength=${maxPersonName} />
    </div>
    ${roleField(visit, typed.role)}`
  return html`<h2>${say('inviteTitle')}</h2>
    ${formOf(visit, { action: `${path}/people`, isSheet: true, button: say('inviteButton') }, fields)}`
}

function roleField(visit: Visit, chosen: OrganizationRole): Html {
  const { say } = visit
  const option = (role: OrganizationRole, hint: string): Content =>
    html`<div class="choice">
      <input
        type="radio"
        id=${`role-${role}`}
        name="role"
        value=${role}
        checked=${role === chosen}
        aria-describedby=${`role-${role}-hint`}
      />
      <label for=${`role-${role}`}>${roleWords(visit, role)}</label>
      <p class="soft" id=${`role-${role}-hint`}>${hint}</p>
    </div>`
  return html`<fieldset class="field">
    <legend>${say('personRoleLabel')}</legend>
    ${option('member', say('roleMemberHint'))} ${option('administrator', say('roleAdministratorHint'))}
  </fieldset>`
}

/** Takes a list of people to invite. @param problem what is wrong with the list that was sent */
export function listView(
  visit: Visit,
  organization: ShownOrganization,
  { text, problem }: { text: string; problem?: string | undefined },
): Html {
  const { say } = visit
  const path = pathOf(visit, organization)
  const field = html`<div class="field">
    <label for="list">${say('inviteListLabel')}</label>
    <textarea
      id="list"
      name="list"
      rows="10"
      spellcheck="false"
      autocomplete="off"
      required
      placeholder="ada@example.com, Ada Lovelace, administrator"
      aria-describedby=${problem ? 'list-error' : undefined}
      aria-invalid=${problem ? 'true' : undefined}
    >
${text}</textarea>
    ${problem && html`<p class="error" id="list-error">${problem}</p>`}
  </div>`
  return html`<section class="narrow">
    <h1>${say('inviteListTitle')}</h1>
    <p class="lead">${say('inviteListLead')}</p>
    ${formOf(visit, { action: `${path}/list`, isSheet: true, button: say('inviteListButton'), back: path }, field)}
  </section>`
}

/** What an administrator may do with another person. */
export function personView(visit: Visit, organization: ShownOrganization, person: OpenedPerson): Html {
  const { say } = visit
  const list = pathOf(visit, organization)
  const path = `${list}/people/${person.personId}`
  const invite = {
    action: `${path}/invite`,
    isSheet: true,
    button: say('resendButton'),
    buttonLook: 'second',
  } as const
  return html`<section class="narrow">
    <p><a href=${list}>${say('organizationTitle')}</a></p>
    <h1>${personWords(visit, person)}</h1>
    ${person.name !== null && person.email !== null && html`<p class="lead">${person.email}</p>`}
    ${formOf(visit, { action: `${path}/role`, isSheet: true, button: say('roleButton') }, roleField(visit, person.role))}
    ${formOf(visit, invite, html`<p>${say('resendLead')}</p>`)}
    <p class="actions"><a class="button danger" href=${`${path}/remove`}>${say('removePersonLink')}</a></p>
  </section>`
}

/** Asks before a person is removed. */
export const removeView = (visit: Visit, organization: ShownOrganization, person: OpenedPerson): Html =>
  asking(visit, `${pathOf(visit, organization)}/people/${person.personId}`, {
    action: 'remove',
    title: visit.say('removePersonTitle', { person: personWords(visit, person) }),
    lead: visit.say('removePersonLead', { organization: nameOf(visit, organization) }),
    button: visit.say('removePersonButton'),
  })

/** Asks before a person leaves. */
export const leaveView = (visit: Visit, organization: ShownOrganization): Html =>
  asking(visit, pathOf(visit, organization), {
    action: 'leave',
    title: visit.say('leaveTitle', { organization: nameOf(visit, organization) }),
    lead: visit.say('leaveLead', { organization: nameOf(visit, organization) }),
    button: visit.say('leaveButton'),
  })

const asking = (
  visit: Visit,
  path: string,
  { action, title, lead, button }: { action: string; title: string; lead: string; button: string },
): Html =>
  html`<section class="narrow">
    <h1>${title}</h1>
    <p class="lead">${lead}</p>
    ${formOf(visit, { action: `${path}/${action}`, button, back: path })}
  </section>`
