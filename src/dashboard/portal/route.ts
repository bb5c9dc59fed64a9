import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findLogo, findPortal, type ShownPortal } from '../../../projections/portal.ts'
import { changePortal } from '../../commands/portal.ts'
import { sameJson } from '../../domain/equality.ts'
import type { PortalSettings } from '../../domain/portal/events.ts'
import { type BuiltInLanguage, builtInNames, isBuiltIn } from '../../domain/portal/languages.ts'
import { portalUrl } from '../../domain/portal/portal.ts'
import { notFound } from '../../http/problem.ts'
import { changedMeanwhile, type FilledForm, newForm, readForm } from '../forms/filled-form.ts'
import { refusedForm } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import { one } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { PortalForm, portalForm, seenOf, settingsIn, TextsForm, textsForm } from './forms.ts'
import { languageForms } from './language-route.ts'
import { logoForms } from './logo-route.ts'
import type { ShowPortal } from './show.ts'
import { portalView, textsView } from './view.ts'

const manage = pageRoute({ page: 'manage_settings' })
const logo = pageRoute({ page: 'manage_settings', query: z.object({ v: one }) })
const path = '/dashboard/portal'

/** The portal of the workspace's customers: whether it is open, how it looks, and its texts. */
export function portalPages(app: FastifyInstance, context: PageContext): void {
  const { ports, show, baseUrl } = context

  const page: ShowPortal = (
    request,
    reply,
    portal,
    { form = portalForm(portal), logoProblem, languages = newForm({}) } = {},
  ) => {
    const url = portalUrl(baseUrl, principalOf(request).tenantId)
    const content = ({ token }: { token: string }) =>
      portalView({ token, form, portal, url, logoProblem, languages })
    const problem = logoProblem ?? Object.values(languages.problems)[0]
    return show(reply, { title: 'Portal', nav: 'portal', content, form, problem })
  }

  app.get('/portal', manage, async (request, reply) =>
    page(request, reply, await findPortal(ports.db, principalOf(request).tenantId)),
  )

  app.post('/portal', manage, async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { filled, data } = readForm(PortalForm, request)
    const now = await findPortal(ports.db, tenantId)
    if (!data) return page(request, reply, now, { form: filled })
    const settings = settingsIn(data, now.settings)
    if (isOutdated(data, settings, now))
      return page(request, reply, now, { form: changedMeanwhile(filled, 'The portal was', seenOf(now)) })
    try {
      await changePortal(ports, tenantId, settings, originOfMember(request))
    } catch (error) {
      return page(request, reply, now, { form: refusedForm(error, filled) })
    }
    return redirectWith(
      reply,
      path,
      settings.enabled ? 'The portal is open.' : 'Saved. The portal is closed.',
    )
  })

  app.get('/portal/logo', logo, async (request, reply) => {
    const found = await findLogo(ports.db, principalOf(request).tenantId)
    if (!found) throw notFound('logo')
    return reply.type(found.type).send(Buffer.from(found.data, 'base64'))
  })

  textPages(app, context)
  logoForms(app, context, page)
  languageForms(app, context, page)
}

type TextsRequest = FastifyRequest<{ Params: { language: string } }>

const languageOf = ({ params }: TextsRequest): BuiltInLanguage => {
  if (!isBuiltIn(params.language)) throw notFound('page')
  return params.language
}

function textPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = (reply: FastifyReply, language: BuiltInLanguage, form: FilledForm) =>
    show(reply, {
      title: `Texts: ${builtInNames[language]}`,
      nav: 'portal',
      content: ({ token }) => textsView(token, language, form),
      form,
    })

  app.get('/portal/texts/:language', manage, async (request: TextsRequest, reply) => {
    const language = languageOf(request)
    const portal = await findPortal(ports.db, principalOf(request).tenantId)
    return page(reply, language, textsForm(portal, language))
  })

  app.post('/portal/texts/:language', manage, async (request: TextsRequest, reply) => {
    const language = languageOf(request)
    const { tenantId } = principalOf(request)
    const { filled, data } = readForm(TextsForm, request)
    if (!data) return page(reply, language, filled)
    const now = await findPortal(ports.db, tenantId)
    const settings = { ...now.settings, texts: { ...now.settings.texts, [language]: data.texts } }
    if (isOutdated(data, settings, now))
      return page(reply, language, changedMeanwhile(filled, 'The portal was', seenOf(now)))
    await changePortal(ports, tenantId, settings, originOfMember(request))
    return redirectWith(reply, path, 'The texts were saved.')
  })
}

/** Whether saving would replace a change that was made since the form was opened. */
const isOutdated = ({ seen }: { seen: string }, settings: PortalSettings, now: ShownPortal): boolean =>
  seen !== seenOf(now) && !sameJson(settings, now.settings)
