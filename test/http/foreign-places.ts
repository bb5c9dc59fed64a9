import { customerPlaces } from './foreign-customer-places.ts'
import type { Place } from './foreign-ids.ts'
import { licensePlaces } from './foreign-license-places.ts'
import { meterPlaces } from './foreign-meter-places.ts'
import { otherPlaces } from './foreign-other-places.ts'

/**
 * Requests with the owner's id in every position where an id can occur, each with the same request for an unknown
 * id.
 */
export const places: readonly Place[] = [...otherPlaces, ...licensePlaces, ...customerPlaces, ...meterPlaces]
