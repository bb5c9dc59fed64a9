import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { listSignInProviders } from '../../../projections/sign-in-providers.ts'
import { findTenant } from '../../../projections/tenants.ts'
import { changeSignInRule } from '../../commands/tenants.ts'
import { newId } from '../../credentials/id.ts'
import { maxProviders, type SignInProvider } from '../../domain/sign-in-providers/provider.ts'
import type { GatedOperation } from '../../gate/operation.ts'
import {
  addSignInProvider,
  changeSignInProvider,
  deleteSignInProvider,
  requireProvider,
} from '../../gate/operations/sign-in-providers.ts'
import { type FilledForm, newForm, readForm } from '../forms/filled-form.ts'
import { formOf } from '../forms/forms.ts'
import { refusedForm } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import {
  fieldOf,
  formOfProvider,
  NewProviderForm,
  OperationForm,
  ProviderForm,
  RuleForm,
} from './sign-in-form.ts'
import { newProviderView, providerView, ruleWords, signInSettingsView } from './sign-in-view.ts'

const manage = pageRoute({ page: 'manage_members' })
const manageForm = pageRoute({ page: 'manage_members', proof: 'send' })
/** A form with a secret is not held while it asks for the proof. */
const withSecret = pageRoute({ page: 'manage_members', proof: 'open' })

const path = '/settings/sign-in'
const back = `/dashboard${path}`

type OneRequest = FastifyRequest<{ Params: { id: string } }>

/** Where owners say which providers members sign in with. */
export function signInSettingPages(app: FastifyInstance, context: PageContext): void {
  const { ports, show } = context
  app.get(path, manage, async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { providers } = await listSignInProviders(ports.db, tenantId)
    const tenant = await findTenant(ports.db, tenantId)
    const providersOnly = tenant?.providersOnly ?? false
    return show(reply, {
      title: 'Single sign-on',
      nav: 'settings',
      content: (view) =>
        signInSettingsView(view, { providers, providersOnly, isFull: providers.length >= maxProviders }),
    })
  })

  app.post(`${path}/rule`, manageForm, async (request, reply) => {
    const { rule } = formOf(RuleForm, request)
    const { tenantId } = principalOf(request)
    await changeSignInRule(ports, tenantId, rule === 'providers', originOfMember(request))
    return redirectWith(reply, back, `Ways to sign in: ${ruleWords[rule]}.`)
  })

  addPages(app, context)
  onePages(app, context)
}

/** Executes an operation with the same rules as an approved API request: the member has just confirmed who they are. */
async function run<Result>(
  { ports }: PageContext,
  request: FastifyRequest,
  operation: GatedOperation<Result>,
  id: string,
  { parameters = {}, body = null }: { parameters?: Record<string, string>; body?: object | null },
): Promise<Result> {
  const { tenantId } = principalOf(request)
  const input = { parameters, query: {}, body }
  await operation.check(ports, tenantId, input)
  return operation.run(ports, tenantId, input, { id, origin: originOfMember(request) })
}

function addPages(app: FastifyInstance, context: PageContext): void {
  const form = (request: FastifyRequest, reply: FastifyReply, filled: FilledForm) =>
    context.show(reply, {
      title: 'Add provider',
      nav: 'settings',
      content: (view) => newProviderView(view, principalOf(request).tenantId, filled, newId('req')),
      form: filled,
    })

  app.get(`${path}/new`, withSecret, async (request, reply) => form(request, reply, newForm()))

  app.post(path, withSecret, async (request, reply) => {
    const { filled, data } = readForm(NewProviderForm, request)
    if (!data) return form(request, reply, filled)
    const { operation, ...body } = data
    try {
      const { providerId } = await run(context, request, addSignInProvider, operation, { body })
      return redirectWith(reply, `${back}/${providerId}`, 'Provider added. Sign in with it to try it.')
    } catch (error) {
      return form(request, reply, refusedForm(error, filled, fieldOf))
    }
  })
}

function onePages(app: FastifyInstance, context: PageContext): void {
  const { ports, show } = context
  const form = (request: FastifyRequest, reply: FastifyReply, provider: SignInProvider, filled: FilledForm) =>
    show(reply, {
      title: provider.name,
      nav: 'settings',
      content: (view) => providerView(view, principalOf(request).tenantId, provider, filled, newId('req')),
      form: filled,
    })
  const providerOf = (request: OneRequest) =>
    requireProvider(ports, principalOf(request).tenantId, request.params.id)

  app.get(`${path}/:id`, withSecret, async (request: OneRequest, reply) => {
    const provider = await providerOf(request)
    return form(request, reply, provider, formOfProvider(provider))
  })

  app.post(`${path}/:id`, withSecret, async (request: OneRequest, reply) => {
    const provider = await providerOf(request)
    const { filled, data } = readForm(ProviderForm, request)
    if (!data) return form(request, reply, provider, filled)
    const { operation, ...body } = data
    const input = { parameters: { id: provider.providerId }, body }
    await run(context, request, changeSignInProvider, operation, input)
    return redirectWith(reply, back, 'Provider saved.')
  })

  app.post(`${path}/:id/delete`, manageForm, async (request: OneRequest, reply) => {
    const { providerId: id } = await providerOf(request)
    const { operation } = formOf(OperationForm, request)
    await run(context, request, deleteSignInProvider, operation, { parameters: { id } })
    return redirectWith(reply, back, 'Provider deleted.')
  })
}
