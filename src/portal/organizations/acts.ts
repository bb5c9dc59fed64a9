import type { OrganizationEvent, OrganizationRole } from '../../domain/organizations/events.ts'
import { dayIn } from '../../domain/portal/texts.ts'
import { type Html, html } from '../../html.ts'
import type { PortalContext } from '../context.ts'
import type { Visit } from '../visit.ts'
import { plainNameOf, type ShownOrganization } from './organization.ts'
import { pathOf, roleWords } from './view.ts'

/** Something that was done with the people of an organization. */
type Act = {
  at: string
  what: 'actFormed' | 'actDissolved' | 'actAdded' | 'actRole' | 'actRemoved' | 'actInvited'
  /** The person it is about; null where it is about none, and for a person who was erased. */
  person: string | null
  role: OrganizationRole | null
  /** Who did it: one of its people, or null for the vendor. */
  actor: string | null
  /** Whether it followed from what the provider of the organization said of a person who signed in. */
  bySignIn: boolean
}

/** More than anybody reads. */
const most = 200

/** What was done with the people of an organization, newest first, as its stream says. */
export async function actsOf(
  { ledger, subjects }: PortalContext['ports'],
  tenantId: string,
  customerId: string,
): Promise<Act[]> {
  const recorded: { event: OrganizationEvent; actor: string }[] = []
  const added = new Map<string, Extract<OrganizationEvent, { type: 'PersonAdded' }>['data']>()
  for await (const entry of ledger.readStream(`customer-${customerId}`)) {
    if (!entry.readable || entry.category !== 'customer') continue
    const { event, metadata } = entry
    if (whatIn(event.type) === undefined) continue
    recorded.push({ event: event as OrganizationEvent, actor: metadata.actor })
    if (event.type === 'PersonAdded') added.set(event.data.personId, event.data)
  }
  const people = [...added.values()]
  const opened = await subjects.openPeople(tenantId, people)
  const named = new Map(
    people.map(({ personId }, index) => [
      personId,
      plainNameOf(opened[index]) ?? opened[index]?.email ?? null,
    ]),
  )
  const personOf = new Map(people.map(({ personId, subjectId }) => [`customer:${subjectId}`, personId]))
  return recorded
    .slice(-most)
    .reverse()
    .flatMap(({ event: { type, data }, actor }) => {
      const what = whatIn(type)
      if (what === undefined) return []
      const person = 'personId' in data ? (named.get(data.personId) ?? null) : null
      const role = 'role' in data ? data.role : null
      const by = { actor: named.get(personOf.get(actor) ?? '') ?? null, bySignIn: actor === 'system:sign-in' }
      return [{ at: data.at, what, person, role, ...by }]
    })
}

const whats: Partial<Record<string, Act['what']>> = {
  OrganizationFormed: 'actFormed',
  OrganizationDissolved: 'actDissolved',
  PersonAdded: 'actAdded',
  PersonRoleChanged: 'actRole',
  PersonRemoved: 'actRemoved',
  InvitationAsked: 'actInvited',
}

const whatIn = (type: string): Act['what'] | undefined => whats[type]

function byWords({ say, portal }: Visit, { actor, bySignIn }: Pick<Act, 'actor' | 'bySignIn'>): string {
  if (bySignIn) return say('actBySignIn')
  return actor === null ? say('actBySupport', { vendor: portal.name }) : say('actBy', { actor })
}

/** The page of what was done. */
export function actsView(visit: Visit, organization: ShownOrganization, acts: readonly Act[]): Html {
  const { say, language } = visit
  return html`<section>
    <p><a href=${pathOf(visit, organization)}>${say('organizationTitle')}</a></p>
    <h1>${say('organizationActsTitle')}</h1>
    ${
      acts.length === 0
        ? html`<p>${say('organizationActsNone')}</p>`
        : html`<ul class="sheet">
            ${acts.map(({ at, what, person, role, ...done }) => {
              const values = {
                person: person ?? say('personUnknown'),
                ...(role && { role: roleWords(visit, role) }),
              }
              return html`<li class="device">
                <div>
                  <p class="name">${say(what, values)}</p>
                  <p class="soft">${dayIn(language, at)} · ${byWords(visit, done)}</p>
                </div>
              </li>`
            })}
          </ul>`
    }
  </section>`
}
