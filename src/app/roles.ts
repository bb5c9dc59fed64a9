/**
 * The kinds of work of an operating-system process. Roles can be split over machines, and each may run several times.
 * `reactions` runs the process managers of src/reactions. Of `notary`, one process at a time works.
 * Processes name a role to each other by its number here, so a new one is added at the end.
 */
export const roles = ['api', 'projector', 'reactions', 'dispatcher', 'notary'] as const
export type Role = (typeof roles)[number]
