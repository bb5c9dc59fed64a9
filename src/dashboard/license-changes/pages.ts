import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { newId } from '../../credentials/id.ts'
import type { Html } from '../../html.ts'
import { notFound } from '../../http/problem.ts'
import { type FilledForm, newForm, readForm, typedIn } from '../forms/filled-form.ts'
import { runOnce } from '../forms/once.ts'
import { refusedForm } from '../forms/refused.ts'
import type { Crumb } from '../frame/navigation.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import type { About, Change, Changed } from './change.ts'
import { fileView } from './files.ts'
import { relayAnswerView } from './relays.ts'
import { changeView, newKeyView } from './view.ts'

const given = z.string().max(256).optional().catch(undefined)
const Query = z.object({ customer: given, device: given, meter: given, credit: given })

export type AboutRequest = FastifyRequest<{ Params: { id: string } }>
type ChangeRequest = FastifyRequest<{ Params: { id: string; change: string } }>

type Changes<Subject extends About> = {
  kind: 'license' | 'customer'
  changes: readonly Change<Subject>[]
  /** @throws Problem or Refusal with 404 */
  find: (request: AboutRequest) => Promise<Subject>
  /** The pages above. */
  trail?: (about: Subject) => Crumb[]
}

const send = pageRoute({ page: 'change_licenses' })

/** Changes that a member makes at once: each is the same command as over the API, run once for a form. */
export function changePages<Subject extends About>(
  app: FastifyInstance,
  { ports, show }: PageContext,
  { kind, changes, find, trail }: Changes<Subject>,
): void {
  const nav = `${kind}s` as const
  const path = `/${nav}/:id/change/:change`
  const form = pageRoute({ page: 'change_licenses', auditedView: kind, query: Query })
  const found = async (request: ChangeRequest): Promise<{ about: Subject; change: Change<Subject> }> => {
    const change = changes.find(({ name }) => name === request.params.change)
    if (!change) throw notFound('page')
    return { about: await find(request), change }
  }
  const page = (
    reply: FastifyReply,
    { about, change }: { about: Subject; change: Change<Subject> },
    filled: FilledForm,
    operation = newId('req'),
  ) =>
    show(reply, {
      title: change.title,
      nav,
      ...(trail && { trail: trail(about) }),
      content: ({ token }) => changeView({ token, operation, change, about, form: filled }),
      form: filled,
    })

  app.get(path, form, async (request: ChangeRequest, reply) => {
    const { about, change } = await found(request)
    return page(reply, { about, change }, newForm(change.values(about, Query.parse(request.query))))
  })

  app.post(path, send, async (request: ChangeRequest, reply) => {
    const { about, change } = await found(request)
    const { filled: sent, data } = readForm(change.schema, request)
    if (!data) return page(reply, { about, change }, sent, typedIn(sent, 'operation'))
    const chosen = (await change.choose?.(ports, about.tenantId, sent)) ?? { filled: sent }
    if ('unclear' in chosen) return page(reply, { about, change }, chosen.unclear, typedIn(sent, 'operation'))
    const { filled, ...named } = chosen
    try {
      const changed = await runOnce(ports, request, async (own, origin) => {
        // The schema of a change reads what its own `run` takes.
        return (await change.run(own, about, { ...data, ...named } as never, origin)) ?? null
      })
      if (changed === null) return reply.redirect(about.path, 303)
      const { title, content } = shownOnce(about.path, changed)
      return show(reply, { title, nav, content: () => content })
    } catch (error) {
      return page(reply, { about, change }, refusedForm(error, filled, change.problems))
    }
  })
}

/** What a change returns that is shown once. */
function shownOnce(path: string, changed: NonNullable<Changed>): { title: string; content: Html } {
  if ('licenseKey' in changed) return { title: 'License key', content: newKeyView(path, changed.licenseKey) }
  if ('licenseFile' in changed) return { title: 'License file', content: fileView(path, changed.licenseFile) }
  return { title: 'Answer to the relay', content: relayAnswerView(path, changed.relayAnswer) }
}
