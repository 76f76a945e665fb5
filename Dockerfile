# The image of migrate, api and worker; the command says which. docker-compose.yml runs all three, beside a PostgreSQL.
# It runs on a read-only file system, and writes nothing but its log.

# Both stages are the same image for both processors, named by its hash. Its Node is the one of package-lock.json (guards).
FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS packages
WORKDIR /souk
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
WORKDIR /souk
COPY --from=packages /souk/node_modules node_modules
COPY LICENSE package.json ./
COPY db db
COPY src src
COPY worker worker
# As in the scripts of package.json, with the option of node below (src/main.ts has the reasons).
ENV MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=131072
# A container has its own network, so nobody is let in by this alone.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
EXPOSE 3000
USER node
# Of the API: a worker answers no requests (docker-compose.yml).
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=4", "src/main.ts", "api"]
