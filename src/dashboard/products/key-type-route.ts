import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { countLicensesOfKeyType } from '../../../projections/licenses/count.ts'
import { momentOf } from '../../commands/origin.ts'
import { addKeyType, changeKeyType } from '../../commands/products.ts'
import { newId } from '../../credentials/id.ts'
import { sameJson } from '../../domain/equality.ts'
import { changedKeyType } from '../../domain/products/key-type-rules.ts'
import { Refusal } from '../../domain/refusal.ts'
import { effectOf } from '../../gate/effects/effect-of.ts'
import { rehearsalOrigin, rehearse } from '../../gate/effects/rehearse.ts'
import { effectWords } from '../../gate/effects/sentences.ts'
import { deleteKeyType } from '../../gate/operations/delete-key-type.ts'
import { askApproval } from '../forms/ask-approval.ts'
import {
  changedMeanwhile,
  type FilledForm,
  newForm,
  readForm,
  typedIn,
  withProblem,
} from '../forms/filled-form.ts'
import { runOnce } from '../forms/once.ts'
import { refusedForm, sentenceOf } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { withOneValueEach } from './entitlement-lines.ts'
import { withFloatingSeats } from './floating-form.ts'
import {
  keyTypeFields,
  keyTypeOf,
  keyTypeValues,
  newKeyTypeForm,
  newKeyTypeId,
  newKeyTypeOf,
} from './key-type-form.ts'
import { editKeyTypeView, newKeyTypeView, reviewView } from './key-type-view.ts'
import { withMeters } from './meters-form.ts'
import {
  aboveIn,
  type KeyTypeRequest,
  keyTypeOfPage,
  type ProductRequest,
  productOf,
} from './product-of-page.ts'

const manage = pageRoute({ page: 'manage_products' })
const requestDeletion = pageRoute({ page: 'delete_key_types' })

const NewForm = withMeters(
  withFloatingSeats(withOneValueEach(z.object({ ...keyTypeFields, ...newKeyTypeId }))),
)
const EditForm = withMeters(
  withFloatingSeats(
    withOneValueEach(
      z.object({
        ...keyTypeFields,
        /** When the product last changed before the form was opened. */
        seen: z.string().max(40),
        reviewed: z.enum(['yes', 'back']).optional(),
      }),
    ),
  ),
)

/** Where key types are created, changed and deleted. */
export function keyTypeForms(app: FastifyInstance, context: PageContext): void {
  newPages(app, context)
  editPages(app, context)
  deletion(app, context)
}

function newPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = async (request: ProductRequest, reply: FastifyReply, form: FilledForm, operation: string) => {
    const product = await productOf(ports, request)
    return show(reply, {
      title: 'New key type',
      nav: 'products',
      trail: aboveIn(product),
      content: ({ token }) => newKeyTypeView({ token, product }, operation, form),
      form,
    })
  }

  app.get('/products/:id/new-key-type', manage, (request: ProductRequest, reply) =>
    page(request, reply, newKeyTypeForm(), newId('req')),
  )

  app.post('/products/:id/key-types', manage, async (request: ProductRequest, reply) => {
    const { tenantId, productId } = await productOf(ports, request)
    const { filled, data } = readForm(NewForm, request)
    const again = (form: FilledForm) => page(request, reply, form, typedIn(filled, 'operation'))
    if (!data) return again(filled)
    const keyType = newKeyTypeOf(data)
    if (!keyType)
      return again(withProblem(filled, 'keyTypeId', 'No ID can be made from the name. Enter one.'))
    try {
      await runOnce(ports, request, async (own, origin) => {
        await addKeyType(own, tenantId, productId, keyType, origin)
        return null
      })
    } catch (error) {
      const taken = `There is a key type with the ID ${keyType.keyTypeId} already. Enter another ID.`
      const form = refusedForm(error, filled, { key_type_exists: ['keyTypeId', taken] })
      return page(request, reply, form, newId('req'))
    }
    return redirectWith(reply, `/dashboard/products/${productId}`, `Key type ${keyType.name} was created.`)
  })
}

function editPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const placeOf = async (request: KeyTypeRequest) => {
    const { product, keyType } = await keyTypeOfPage(ports, request)
    const { tenantId, productId } = product
    const { keyTypeId } = keyType
    const at = momentOf(ports)
    const { live } = await countLicensesOfKeyType(ports.db, { tenantId, productId, keyTypeId }, at)
    return { product, keyType, keyTypeId, live: live.count }
  }
  type Place = Awaited<ReturnType<typeof placeOf>>
  const page = (reply: FastifyReply, place: Place, form: FilledForm) =>
    show(reply, {
      title: 'Edit key type',
      nav: 'products',
      trail: aboveIn(place.product),
      content: ({ token, may }) =>
        editKeyTypeView({ token, ...place, mayDelete: may('delete_key_types') }, form),
      form,
    })

  app.get('/products/:id/key-types/:keyType/edit', manage, async (request: KeyTypeRequest, reply) => {
    const place = await placeOf(request)
    const { keyType, product } = place
    return page(reply, place, newForm({ ...keyTypeValues(keyType), seen: product.updatedAt }))
  })

  app.post('/products/:id/key-types/:keyType/edit', manage, async (request: KeyTypeRequest, reply) => {
    const place = await placeOf(request)
    const { product, keyType: before, keyTypeId } = place
    const { filled, data } = readForm(EditForm, request)
    if (!data || data.reviewed === 'back') return page(reply, place, filled)
    const change = keyTypeOf(data)
    if (!sameJson(before, changedKeyType(before, change))) {
      if (data.seen !== product.updatedAt) {
        return page(reply, place, changedMeanwhile(filled, 'The product was', product.updatedAt))
      }
      const sentences = await changesForLicenses(ports, { ...product, keyTypeId }, change)
      if (data.reviewed === undefined && sentences.length > 0) {
        return show(reply, {
          title: 'Edit key type',
          nav: 'products',
          trail: aboveIn(product),
          content: ({ token }) => reviewView({ token, ...place }, filled, sentences),
        })
      }
    }
    const { tenantId, productId } = product
    await changeKeyType(ports, tenantId, productId, keyTypeId, change, originOfMember(request))
    return redirectWith(reply, `/dashboard/products/${productId}`, `Key type ${change.name} saved.`)
  })
}

/** What an edit changes, in sentences; none when no license that is there would notice. */
async function changesForLicenses(
  ports: PageContext['ports'],
  { tenantId, productId, keyTypeId }: { tenantId: string; productId: string; keyTypeId: string },
  change: ReturnType<typeof keyTypeOf>,
): Promise<string[]> {
  const decided = await rehearse(ports, (own) =>
    changeKeyType(own, tenantId, productId, keyTypeId, change, rehearsalOrigin),
  )
  const effect = await effectOf(ports, tenantId, decided)
  const isNoticed = effect.also.some(
    (fact) =>
      fact.what === 'key_type_changed' &&
      fact.live.count > 0 &&
      [
        ...effect.entitlementsAppearing,
        ...effect.entitlementsDisappearing,
        ...fact.newLicenses,
        ...(fact.values ?? []),
        ...(fact.meters ? [fact.meters] : []),
      ].length > 0,
  )
  return isNoticed ? effectWords(effect) : []
}

/** Deletion is requested here as by an API client, and runs when it is approved. */
function deletion(app: FastifyInstance, { ports }: PageContext): void {
  app.post(
    '/products/:id/key-types/:keyType/delete',
    requestDeletion,
    async (request: KeyTypeRequest, reply) => {
      const { product, keyType } = await keyTypeOfPage(ports, request)
      const { productId } = product
      const parameters = { productId, keyTypeId: keyType.keyTypeId }
      try {
        const id = await askApproval(ports, request, deleteKeyType, { parameters, query: {}, body: null })
        return reply.redirect(`/dashboard/approvals/${id}`, 303)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        return redirectWith(reply, `/dashboard/products/${productId}`, {
          kind: 'wrong',
          text: sentenceOf(error.code),
        })
      }
    },
  )
}
