import type { Pool } from 'pg'
import { createClientLookup } from './clients.ts'
import { createLicenseLookup } from './licenses/by-id.ts'
import { createInstanceValidateLookup } from './licenses/instance-validate.ts'
import { createInstanceLookup } from './licenses/instances.ts'
import { createRuntimeLookup } from './licenses/runtime.ts'
import { createValidateLookup } from './licenses/validate.ts'
import { createMeteredLookup } from './meters/licenses.ts'
import { createMeterLookup } from './meters/lookup.ts'
import { createProductLookup } from './products/queries.ts'
import { createTokenLookup } from './tokens/queries.ts'
import { createInstallLookup } from './trials.ts'

export type Lookups = ReturnType<typeof createLookups>

/** The lookups of the hot path. Concurrent calls of one lookup share one query. */
export const createLookups = (db: Pool) => ({
  findToken: createTokenLookup(db),
  findProduct: createProductLookup(db),
  findForValidate: createValidateLookup(db),
  findForRuntime: createRuntimeLookup(db),
  findClient: createClientLookup(db),
  findInstall: createInstallLookup(db),
  findMetered: createMeteredLookup(db),
  findMeter: createMeterLookup(db),
  findLicenseById: createLicenseLookup(db),
  findInstance: createInstanceLookup(db),
  findForInstanceValidate: createInstanceValidateLookup(db),
})
