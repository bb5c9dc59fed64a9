import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireLicense } from '../../commands/licenses/licenses.ts'
import { isId, newId } from '../../credentials/id.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import { may, type Role } from '../../domain/members/roles.ts'
import type { Html } from '../../html.ts'
import { notFound } from '../../http/problem.ts'
import { unknownPerson } from '../../vault/subjects.ts'
import { type FilledForm, newForm, readForm, typedIn } from '../forms/filled-form.ts'
import { runOnce } from '../forms/once.ts'
import { refusedForm } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import type { AboutLicense, Changed, LicenseChange, LicenseFacts } from './change.ts'
import { licenseChanges } from './changes.ts'
import { fileView } from './files.ts'
import { licensePath } from './paths.ts'
import { relayAnswerView } from './relays.ts'
import { changeView, newKeyView } from './view.ts'

/** The changes that a role may make to a license in its state. */
export const changesFor = (
  role: Role,
  license: IssuedLicense,
  known: LicenseFacts,
): { name: string; label: string }[] =>
  may(role, 'change_licenses')
    ? licenseChanges
        .filter(({ fits }) => fits(license, known))
        .map(({ name, label }) => ({ name, label: typeof label === 'string' ? label : label(license) }))
    : []

const given = z.string().max(256).optional().catch(undefined)
const Query = z.object({ customer: given, device: given, meter: given, credit: given })

type ChangeRequest = FastifyRequest<{ Params: { id: string; change: string } }>

const form = pageRoute({ page: 'change_licenses', auditedView: 'license', query: Query })
const send = pageRoute({ page: 'change_licenses' })

/** Changes of a license that a member makes at once: each is the same command as over the API, run once for a form. */
export function licenseChangePages(app: FastifyInstance, { ports, show }: PageContext): void {
  const found = async (request: ChangeRequest): Promise<{ about: AboutLicense; change: LicenseChange }> => {
    const { id, change: name } = request.params
    const { tenantId } = principalOf(request)
    const change = licenseChanges.find((one) => one.name === name)
    if (!change || !isId('lic', id)) throw notFound('license')
    const { license } = await requireLicense(ports, tenantId, id)
    const product = await ports.findProduct(tenantId, license.productId)
    const [person = unknownPerson] = await ports.subjects.openPeople(tenantId, [license.holder])
    return { about: { license, person, keyTypes: product?.keyTypes ?? [] }, change }
  }
  const page = (
    reply: FastifyReply,
    { about, change }: { about: AboutLicense; change: LicenseChange },
    filled: FilledForm,
    operation = newId('req'),
  ) =>
    show(reply, {
      title: change.title,
      nav: 'licenses',
      content: ({ token }) => changeView({ token, operation, change, about, form: filled }),
      form: filled,
    })

  app.get('/licenses/:id/change/:change', form, async (request: ChangeRequest, reply) => {
    const { about, change } = await found(request)
    return page(reply, { about, change }, newForm(change.values(about, Query.parse(request.query))))
  })

  app.post('/licenses/:id/change/:change', send, async (request: ChangeRequest, reply) => {
    const { about, change } = await found(request)
    const { filled: sent, data } = readForm(change.schema, request)
    if (!data) return page(reply, { about, change }, sent, typedIn(sent, 'operation'))
    const chosen = (await change.choose?.(ports, about.license.tenantId, sent)) ?? { filled: sent }
    if ('unclear' in chosen) return page(reply, { about, change }, chosen.unclear, typedIn(sent, 'operation'))
    const { filled, ...named } = chosen
    try {
      const changed = await runOnce(ports, request, async (own, origin) => {
        // The schema of a change reads what its own `run` takes.
        return (await change.run(own, about, { ...data, ...named } as never, origin)) ?? null
      })
      const { licenseId } = about.license
      if (changed === null) return reply.redirect(licensePath(licenseId), 303)
      const { title, content } = shownOnce(licenseId, changed)
      return show(reply, { title, nav: 'licenses', content: () => content })
    } catch (error) {
      return page(reply, { about, change }, refusedForm(error, filled, change.problems))
    }
  })
}

/** What a change returns that is shown once. */
function shownOnce(licenseId: string, changed: NonNullable<Changed>): { title: string; content: Html } {
  if ('licenseKey' in changed)
    return { title: 'License key', content: newKeyView(licenseId, changed.licenseKey) }
  if ('licenseFile' in changed)
    return { title: 'License file', content: fileView(licenseId, changed.licenseFile) }
  return { title: 'Answer to the relay', content: relayAnswerView(licenseId, changed.relayAnswer) }
}
