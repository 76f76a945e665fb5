import type { Page } from "../pages/frame.ts";
import type { AdminSchema } from "./graphql.ts";

export const adminPages = (_context: { schema: AdminSchema; baseUrl: () => string }): Page[] => [];
