/** The path of a one-time link; the caller puts the base URL before it. */
export const welcomePath = (secret: string): string => `/dashboard/welcome/${secret}`
