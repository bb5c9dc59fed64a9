import { z } from 'zod'
import { findLanguages, findPortal } from '../../../projections/portal.ts'
import { addLanguage, removeLanguage } from '../../commands/portal.ts'
import {
  LanguageFile,
  languagesOf,
  type PresentLanguage,
  presentLanguage,
} from '../../domain/portal/language-file.ts'
import { canonicalTag, isWritable, LanguageTag } from '../../domain/portal/languages.ts'
import { callerIn, originOf } from '../../http/authenticate.ts'
import { notFound } from '../../http/problem.ts'
import { answer, errors } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'

const described =
  'Pages of the portal and mails to customers are in the language that the customer prefers, as far as the portal has it. English and ' +
  'German are built in; you can add up to 20 others.'

const tagOfPath = { description: 'The tag of the language: `fr`, or `pt-BR` with a region', example: 'fr' }

const onlyTag = z.strictObject({
  tag: z
    .string()
    .transform((tag) => canonicalTag(tag) ?? '')
    .meta(tagOfPath),
})
const tagToAdd = z.strictObject({
  tag: z
    .string()
    .transform((tag) => canonicalTag(tag) ?? tag)
    .refine(
      isWritable,
      'must be the tag of a language in which days and numbers can be written, such as fr, or pt-BR with a region',
    )
    .meta(tagOfPath),
})

const summary = z
  .object({
    tag: LanguageTag.meta({ description: 'Its tag', example: 'fr' }),
    name: LanguageFile.shape.name,
    builtIn: z.boolean().meta({
      description: 'Whether it is built in; such a language is neither replaced nor removed',
      example: false,
    }),
    missing: z.int().meta({
      description:
        'How many texts it lacks. They are in English, or in the built-in language with which the tag begins',
      example: 12,
    }),
  })
  .meta({ id: 'PortalLanguage', description: 'A language of the customer portal and of mails to customers' })

const detail = summary
  .extend({
    texts: z
      .record(z.string(), z.string())
      .meta({ ...LanguageFile.shape.texts.meta(), description: 'Its texts by name, without those it lacks' }),
  })
  .meta({ id: 'PortalLanguageTexts', description: 'A language with its texts' })

const listOut = z.object({
  languages: z
    .array(summary)
    .meta({ description: 'The built-in languages, then those that you added, at most 20' }),
})
const oneOut = z.object({ language: detail })

const summaryOf = ({ texts: _, ...rest }: PresentLanguage) => rest

type LanguagePorts = Ports<'db' | 'execute' | 'now'>

async function languagesIn({ db }: Ports<'db'>, tenantId: string): Promise<PresentLanguage[]> {
  const [{ settings }, added] = await Promise.all([findPortal(db, tenantId), findLanguages(db, tenantId)])
  return languagesOf(settings.texts, added)
}

/** @throws Problem 404 for a language that the portal does not have */
async function requirePresent(ports: Ports<'db'>, tenantId: string, tag: string): Promise<PresentLanguage> {
  const found = (await languagesIn(ports, tenantId)).find((language) => language.tag === tag)
  if (!found) throw notFound('language')
  return found
}

/** The languages of the portal and of the mails to customers. */
export function portalLanguageRoutes(app: ZodApp, ports: LanguagePorts): void {
  app.get(
    '/v1/portal/languages',
    {
      config: { scope: 'products:read' },
      schema: {
        operationId: 'listPortalLanguages',
        tags: ['Portal'],
        summary: 'List the languages of the customer portal',
        description: described,
        response: { 200: answer('The languages', listOut), ...errors(403) },
      },
    },
    async (request) => ({
      languages: (await languagesIn(ports, callerIn(request).tenantId)).map(summaryOf),
    }),
  )
  app.get(
    '/v1/portal/languages/:tag',
    {
      config: { scope: 'products:read' },
      schema: {
        operationId: 'getPortalLanguage',
        tags: ['Portal'],
        summary: 'Read a language with its texts',
        description:
          'Of a built-in language, these are all texts, with your own ones. `name` and `texts` are what adds a language: translate those of `en`.',
        params: onlyTag,
        response: { 200: answer('The language', oneOut), ...errors(400, 403, 404) },
      },
    },
    async (request) => ({
      language: await requirePresent(ports, callerIn(request).tenantId, request.params.tag),
    }),
  )
  changeRoutes(app, ports)
}

function changeRoutes(app: ZodApp, ports: LanguagePorts): void {
  app.put(
    '/v1/portal/languages/:tag',
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'setPortalLanguage',
        tags: ['Portal'],
        summary: 'Add a language, or replace its name and texts',
        description:
          `${described} Words in braces are filled in, and stay as they are in a translation. A text with a name or a placeholder that does ` +
          'not exist is refused.',
        params: tagToAdd,
        body: LanguageFile,
        response: { 200: answer('The language', oneOut), ...errors(400, 403, 409) },
      },
    },
    async (request) => {
      const { params, body } = request
      await addLanguage(ports, callerIn(request).tenantId, { ...params, ...body }, originOf(request))
      return { language: presentLanguage(params.tag, body) }
    },
  )
  app.delete(
    '/v1/portal/languages/:tag',
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'removePortalLanguage',
        tags: ['Portal'],
        summary: 'Remove a language',
        description:
          'Its customers get pages and mails in the next language that they prefer, else in English. Templates in this language are kept and ' +
          'not used until you add it again; mail settings of products that name it count as English.',
        params: onlyTag,
        response: { 200: answer('The languages that are left', listOut), ...errors(400, 403, 404, 409) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { tag } = await requirePresent(ports, tenantId, request.params.tag)
      await removeLanguage(ports, tenantId, tag, originOf(request))
      return { languages: (await languagesIn(ports, tenantId)).map(summaryOf) }
    },
  )
}
