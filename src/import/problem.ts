/** An import that cannot be done as it was asked; the message says why and what to do. Nothing was imported by it. */
export class ImportProblem extends Error {}
