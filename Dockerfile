# syntax=docker/dockerfile:1
# The service: `docker run millrace run /app/config/order-totals.yaml`.

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run -s build

FROM node:24-bookworm-slim AS dependencies
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --omit=dev

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    NODE_OPTIONS=--disable-proto=delete \
    STATE_DIR=/state
WORKDIR /app
COPY --from=dependencies /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY package.json LICENSE ./
COPY config ./config
# Only the state directory can be written, by a user that has no name and no other rights.
RUN install -d -m 0700 -o 10001 -g 10001 /state
VOLUME /state
USER 10001:10001
EXPOSE 8080
# The service listens on loopback unless told otherwise, so the probe runs inside.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/livez').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["--help"]
