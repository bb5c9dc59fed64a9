import fc from 'fast-check'
import { expect } from 'vitest'
import { z } from 'zod'
import {
  at,
  expectStatus,
  gated,
  type Model,
  type ModelLicense,
  type Step,
  step,
  type World,
} from './world.ts'

const anyProduct = fc.constantFrom('editor', 'viewer', 'server')
const anyKeyType = fc.constantFrom('base', 'team', 'site')
const anyLicense = fc.nat({ max: 40 })
const anyCustomer = fc.nat({ max: 20 })
const anyDevice = fc.constantFrom('laptop', 'desktop', 'tablet')

const absent = 'lic_00000000000000000000000000'

type Chosen = { license: ModelLicense | undefined; id: string; key: string }

const chosen = (model: Model, real: World, index: number): Chosen => ({
  license: at(model.licenses, index),
  ...(at(real.licenses, index) ?? { id: absent, key: 'AAAA-BBBB-CCCC-DDDD' }),
})

const Minted = z.looseObject({ licenseKey: z.string(), license: z.looseObject({ id: z.string() }) })

/** The customer with this address, who is made if there is none. */
function byAddress({ buyers }: Model, email: string): { email: string } {
  buyers.add(email)
  return { email }
}

const mint = (productId: string, keyTypeId: string, customer: number | undefined) =>
  step(`mint ${keyTypeId} of ${productId}`, async (model, call, real) => {
    const keyType = model.products.get(productId)?.keyTypes.get(keyTypeId)
    const index =
      customer === undefined || model.customers.length === 0 ? undefined : customer % model.customers.length
    const email = `holder-${String(model.licenses.length)}@example.com`
    const customerId = index === undefined ? undefined : real.customers[index]
    const answer = await call('POST', '/v1/licenses', {
      productId,
      keyTypeId,
      email,
      ...(customerId && { customerId }),
    })
    if (!keyType) return expectStatus(answer, 404)
    expectStatus(answer, 201)
    const { license, licenseKey } = Minted.parse(answer.body)
    real.licenses.push({ id: license.id, key: licenseKey, oldKeys: [] })
    const { deviceLimit: limit } = keyType
    const [devices, known] = [new Set<string>(), new Set<string>()]
    model.licenses.push({
      productId,
      keyTypeId,
      limit,
      email,
      ...(index === undefined
        ? { customer: byAddress(model, email), isDecided: false }
        : { customer: index, isDecided: true }),
      status: 'active',
      devices,
      known,
    })
  })

const edit = (index: number, deviceLimit: number | null, email: string | null) =>
  step(`edit ${String(index)}`, async (model, call, real) => {
    const { license, id } = chosen(model, real, index)
    const answer = await call('PATCH', `/v1/licenses/${id}`, { deviceLimit, email })
    if (!license) return expectStatus(answer, 404)
    if (license.status === 'revoked') return expectStatus(answer, 409)
    if (deviceLimit !== null && deviceLimit < license.devices.size) return expectStatus(answer, 409)
    expectStatus(answer, 200)
    license.limit = deviceLimit
    if (email !== null && email !== license.email && !license.isDecided)
      license.customer = byAddress(model, email)
    license.email = email
  })

type Move = { verb: string; to: ModelLicense['status']; send: typeof gated }

/** A call that leads a license to a status; a revoked one stays so. */
const moving =
  ({ verb, to, send }: Move) =>
  (index: number) =>
    step(`${verb} ${String(index)}`, async (model, call, real) => {
      const { license, id } = chosen(model, real, index)
      const answer = await send(call, real, 'POST', `/v1/licenses/${id}/${verb}`)
      if (!license) return expectStatus(answer, 404)
      if (license.status === 'revoked') return expectStatus(answer, 409)
      expectStatus(answer, 200)
      license.status = to
    })

const atOnce: typeof gated = (call, _real, method, url) => call(method, url, {})
const suspend = moving({ verb: 'suspend', to: 'suspended', send: atOnce })
const resume = moving({ verb: 'resume', to: 'active', send: atOnce })
const revoke = moving({ verb: 'revoke', to: 'revoked', send: gated })

const remint = (index: number, keepDevices: boolean) =>
  step(`remint ${String(index)}`, async (model, call, real) => {
    const { license, id, key } = chosen(model, real, index)
    const answer = await call('POST', `/v1/licenses/${id}/remint`, { keepDevices })
    if (!license) return expectStatus(answer, 404)
    if (license.status === 'revoked') return expectStatus(answer, 409)
    expectStatus(answer, 200)
    const known = at(real.licenses, index)
    known?.oldKeys.push(key)
    if (known) known.key = Minted.parse(answer.body).licenseKey
    if (!keepDevices) license.devices.clear()
  })

const activate = (index: number, device: string) =>
  step(`activate ${device} on ${String(index)}`, async (model, call, real) => {
    const { license, key } = chosen(model, real, index)
    const productId = license?.productId ?? 'editor'
    const answer = await call('POST', '/v1/licenses/activate', {
      product_id: productId,
      license_key: key,
      device_id: device,
      name: device,
    })
    if (!model.products.has(productId)) return expectStatus(answer, 404)
    expectStatus(answer, 200)
    const isFree =
      license &&
      (license.devices.has(device) || license.limit === null || license.devices.size < license.limit)
    const activated = license?.status === 'active' && isFree === true
    expect(answer.body).toMatchObject({ activated })
    if (!activated) return
    license.devices.add(device)
    license.known.add(device)
  })

const free = (index: number, deviceId: string) =>
  step(`free ${deviceId} of ${String(index)}`, async (model, call, real) => {
    const { license, id } = chosen(model, real, index)
    const answer = await call('POST', `/v1/licenses/${id}/deactivate-device`, { deviceId })
    expectStatus(answer, license?.known.has(deviceId) ? 200 : 404)
    license?.devices.delete(deviceId)
  })

const validate = (index: number, device: string, useOldKey: boolean) =>
  step(`validate ${String(index)} on ${device}`, async (model, call, real) => {
    const { license, key } = chosen(model, real, index)
    const old = at(real.licenses, index)?.oldKeys.at(-1)
    const productId = license?.productId ?? 'editor'
    const answer = await call('POST', '/v1/licenses/validate', {
      product_id: productId,
      license_key: useOldKey ? (old ?? key) : key,
      device_id: device,
    })
    if (!model.products.has(productId)) return expectStatus(answer, 404)
    expectStatus(answer, 200)
    const isPresent = !useOldKey || old === undefined
    const valid = isPresent && license?.status === 'active' && license.devices.has(device)
    expect(answer.body).toMatchObject({ valid })
  })

const link = (index: number, customer: number) =>
  step(`link ${String(index)} to ${String(customer)}`, async (model, call, real) => {
    const { license, id } = chosen(model, real, index)
    const customerId = at(real.customers, customer)
    const answer = await call('POST', `/v1/customers/${customerId ?? 'cus_absent'}/link-license`, {
      licenseId: id,
    })
    if (customerId === undefined || !license) return expectStatus(answer, 404)
    const wanted = customer % model.customers.length
    if (license.isDecided && license.customer !== undefined && license.customer !== wanted)
      return expectStatus(answer, 409)
    expectStatus(answer, 200)
    license.customer = wanted
    license.isDecided = true
  })

const unlink = (index: number, customer: number) =>
  step(`unlink ${String(index)} from ${String(customer)}`, async (model, call, real) => {
    const { license, id } = chosen(model, real, index)
    const customerId = at(real.customers, customer)
    const answer = await call('POST', `/v1/customers/${customerId ?? 'cus_absent'}/unlink-license`, {
      licenseId: id,
    })
    if (customerId === undefined || !license) return expectStatus(answer, 404)
    if (license.customer !== undefined && license.customer !== customer % model.customers.length)
      return expectStatus(answer, 409)
    expectStatus(answer, 200)
    if (license.customer !== undefined) license.isDecided = true
    license.customer = undefined
  })

const anyLimit = fc.constantFrom(1, 3, null)

/** Steps about licenses, their devices, and to whom they belong. */
export const licenseSteps: fc.Arbitrary<Step>[] = [
  fc.tuple(anyProduct, anyKeyType, fc.option(anyCustomer, { nil: undefined })).map((given) => mint(...given)),
  fc.tuple(anyLicense, anyLimit, fc.constantFrom('new@example.com', null)).map((given) => edit(...given)),
  fc
    .tuple(fc.constant('editor'), fc.constant('base'), fc.option(anyCustomer, { nil: undefined }))
    .map((given) => mint(...given)),
  fc.tuple(anyLicense, anyLimit, fc.constantFrom('new@example.com', null)).map((given) => edit(...given)),
  anyLicense.map(suspend),
  anyLicense.map(resume),
  anyLicense.map(revoke),
  fc.tuple(anyLicense, fc.boolean()).map((given) => remint(...given)),
  fc.tuple(anyLicense, anyDevice).map((given) => activate(...given)),
  fc.tuple(anyLicense, anyDevice).map((given) => free(...given)),
  fc.tuple(anyLicense, anyDevice, fc.boolean()).map((given) => validate(...given)),
  fc.tuple(anyLicense, anyCustomer).map((given) => link(...given)),
  fc.tuple(anyLicense, anyCustomer).map((given) => unlink(...given)),
]
