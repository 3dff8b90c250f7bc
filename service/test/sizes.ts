/** A number that a long run sets; the environment is read here, and no test of the product reads it. */
const readSize = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise)

/** Honest months of each set that audits are tried on; `npm run test:long` tries 100. */
export const auditMonths = readSize('AUDIT_MONTHS', 100)

/** Rows of each table on each chain whose rewinds are planned. */
export const planRows = readSize('PLAN_ROWS', 300_000)
