import type { FastifyInstance, FastifyRequest } from 'fastify'
import { findLanguages, findPortal } from '../../../projections/portal.ts'
import { addLanguage, removeLanguage } from '../../commands/portal.ts'
import { LanguageFile, languagesOf } from '../../domain/portal/language-file.ts'
import { canonicalTag, isWritable } from '../../domain/portal/languages.ts'
import { notFound } from '../../http/problem.ts'
import { newForm, withProblem } from '../forms/filled-form.ts'
import { refusedForm } from '../forms/refused.ts'
import { readUploads } from '../forms/uploads.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import type { ShowPortal } from './show.ts'

const manage = pageRoute({ page: 'manage_settings' })
const path = '/dashboard/portal'

type LanguageRequest = FastifyRequest<{ Params: { tag: string } }>

/** Adds, downloads and removes languages of the portal. */
export function languageForms(app: FastifyInstance, { ports }: PageContext, page: ShowPortal): void {
  app.get('/portal/languages/:tag', manage, async (request: LanguageRequest, reply) => {
    const { tenantId } = principalOf(request)
    const [{ settings }, added] = await Promise.all([
      findPortal(ports.db, tenantId),
      findLanguages(ports.db, tenantId),
    ])
    const found = languagesOf(settings.texts, added).find(({ tag }) => tag === request.params.tag)
    if (!found) throw notFound('page')
    const { tag, name, texts } = found
    return reply
      .type('application/json; charset=utf-8')
      .header('content-disposition', `attachment; filename="${tag}.json"`)
      .send(`${JSON.stringify({ name, texts }, null, 2)}\n`)
  })

  void app.register(async (uploads) => {
    readUploads(uploads)
    uploads.post('/portal/languages', manage, async (request, reply) => {
      const { tenantId } = principalOf(request)
      const { tag: typed, file } = (request.body ?? {}) as { tag?: unknown; file?: unknown }
      const written = typeof typed === 'string' ? typed.trim() : ''
      const form = newForm({ tag: written })
      const show = async (languages: typeof form) =>
        page(request, reply, await findPortal(ports.db, tenantId), { languages })
      const tag = canonicalTag(written)
      if (tag === undefined || !isWritable(tag)) return show(withProblem(form, 'tag', wrongTag))
      const read = languageIn(file)
      if ('problem' in read) return show(withProblem(form, 'file', read.problem))
      try {
        await addLanguage(ports, tenantId, { tag, ...read.language }, originOfMember(request))
      } catch (error) {
        return show(refusedForm(error, form))
      }
      return redirectWith(reply, path, `${read.language.name} was saved.`)
    })
  })

  app.post('/portal/languages/:tag/remove', manage, async (request: LanguageRequest, reply) => {
    const { tenantId } = principalOf(request)
    const { tag } = request.params
    if (!Object.hasOwn((await findPortal(ports.db, tenantId)).addedLanguages, tag)) throw notFound('page')
    await removeLanguage(ports, tenantId, tag, originOfMember(request))
    return redirectWith(reply, path, 'The language was removed.')
  })
}

const wrongTag = 'Enter the tag of a language, such as fr, or pt-BR with a region.'

/** How many problems of a file are named at once. */
const mostProblems = 5

/** A language in a file that was sent, or what is wrong with the file. */
function languageIn(file: unknown): { language: LanguageFile } | { problem: string } {
  const { data, error } = LanguageFile.safeParse(jsonIn(file))
  if (data) return { language: data }
  const problems = error.issues.map(({ path: place, message }) =>
    place.length === 0 ? message : `${place.join(' › ')}: ${message}`,
  )
  const more = problems.length > mostProblems ? ` And ${problems.length - mostProblems} more.` : ''
  return {
    problem: `This file cannot be used. ${problems
      .slice(0, mostProblems)
      .map((problem) => `${problem}.`)
      .join(' ')}${more}`,
  }
}

function jsonIn(file: unknown): unknown {
  try {
    return file instanceof Uint8Array
      ? JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(file))
      : null
  } catch {
    return null
  }
}
