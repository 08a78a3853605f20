-- SPDX-License-Identifier: MIT
-- Whom connections over TLS trust (lua/luaweb/client/tls.lua), what they agree on, and
-- what is told when they don't.
local certificates = require "spec.support.certificates"
local client = require "spec.support.client"
local dial = require "luaweb.client.dial"
local faulty_server = require "spec.support.faulty_server"
local ffi = require "ffi"
local process = require "spec.support.process"
local tls = require "luaweb.client.tls"
local tls_server = require "spec.support.tls_server"

ffi.cdef "int setenv(const char *name, const char *value, int overwrite);"
ffi.cdef "int unsetenv(const char *name);"

local DAY = 86400

--- Sends back what comes, in capitals, and ends in order.
local function shout(conn)
  conn:send(conn:receive():upper())
  conn:finish()
end

--- Starts a server, and dials it with these options of TLS.
local function try(server_options, options, host)
  local server = tls_server.start(shout, server_options)
  options = options or {}
  if options.ca_file == nil and options.verify == nil then
    options.ca_file = server.certificate:file()
  end
  return dial.open { host = host or "localhost", port = server.port, tls = options }
end

--- The same with the system's authorities, of which none has signed anything here.
local function try_system(server_options)
  local server = tls_server.start(shout, server_options)
  return dial.open { host = "localhost", port = server.port, tls = {} }
end

--- Holds a connection to be a good one.
local function assert_works(conn, message)
  assert(conn, message)
  assert(conn:send "hello")
  local octets, ending = client.receive_all(conn)
  conn:close()
  assert.equal("HELLO", octets)
  assert.equal("closed", ending)
end

--- Holds a refusal to have this reason.
local function assert_refused(pattern, conn, message, kind)
  assert.is_nil(conn)
  assert.matches("^no TLS with [%w.]+ port %d+: " .. pattern .. "$", message)
  assert.equal("tls", kind)
end

after_each(function()
  faulty_server.clean()
  process.clean()
end)

describe("a certificate", function()
  it("is taken when it is of the host and trusted", function()
    assert_works(try())
  end)

  it("is taken when it is of the address", function()
    assert_works(try(nil, nil, "127.0.0.1"))
  end)

  it("is taken when an authority has signed it that is trusted", function()
    local authority = certificates.make { names = false, is_authority = true }
    assert_works(try({ certificate = certificates.make { issuer = authority } },
      { ca_file = authority:file() }))
  end)

  it("may be of another name that is given", function()
    local certificate = certificates.make { names = "DNS:*.example.com" }
    assert_works(try({ certificate = certificate }, { name = "www.example.com." }))
  end)

  it("is not looked at when verify is false", function()
    local certificate = certificates.make { names = "DNS:other", to = -1 }
    assert_works(try({ certificate = certificate }, { verify = false }))
  end)

  for title, case in pairs {
    ["has expired"] = { { from = -2 * DAY, to = -DAY },
      "certificate has expired: the server needs a new one" },
    ["is not valid yet"] = { { from = DAY, to = 2 * DAY },
      "certificate is not yet valid: look at the clocks" },
    ["is of another host"] = { { names = "DNS:example.com" },
      "hostname mismatch: the certificate is of another host than localhost" },
    ["names no host but in its subject"] = { { names = false, subject = "localhost" },
      "hostname mismatch: .*" },
    ["has a wildcard within a label"] = { { names = "DNS:local*" },
      "hostname mismatch: .*" },
    ["is of an address and not the host"] = { { names = "IP:127.0.0.1" },
      "hostname mismatch: .*" },
  } do
    it("is refused when it " .. title, function()
      local certificate = certificates.make(case[1])
      assert_refused(case[2], try { certificate = certificate })
    end)
  end

  it("is refused when it is of another address", function()
    local certificate = certificates.make { names = "IP:127.0.0.2,DNS:127.0.0.1" }
    assert_refused("IP address mismatch: the certificate is of another host than "
      .. "127.0.0.1", try({ certificate = certificate }, nil, "127.0.0.1"))
  end)

  it("is refused when a wildcard would cover two labels", function()
    local certificate = certificates.make { names = "DNS:*.example.com" }
    assert_refused("hostname mismatch: .* than a.b.example.com",
      try({ certificate = certificate }, { name = "a.b.example.com" }))
  end)

  it("is refused when it is signed by itself and not trusted", function()
    local other = certificates.make():file()
    assert_refused("self%-signed certificate: it isn't signed by what "
      .. other:gsub("%p", "%%%0") .. " holds", try(nil, { ca_file = other }))
    assert_refused("self%-signed certificate: to trust it, name its file as "
      .. ".*ca_file", try_system())
  end)

  it("is refused when who has signed it is not trusted", function()
    local authority = certificates.make { names = false, is_authority = true }
    local other = certificates.make():file()
    local certificate = certificates.make { issuer = authority }
    assert_refused("unable to get local issuer certificate: it isn't signed by what "
      .. other:gsub("%p", "%%%0") .. " holds",
      try({ certificate = certificate }, { ca_file = other }))
    assert_refused("unable to get local issuer certificate: to trust it, name the "
      .. "file of its authority as .*ca_file, .*",
      try_system { certificate = certificate })
  end)

  it("is refused when who has signed it is no authority", function()
    local other = certificates.make { is_authority = false }
    local certificate = certificates.make { issuer = other }
    assert_refused("invalid CA certificate", try({ certificate = certificate },
      { ca_file = other:file() }))
  end)
end)

describe("certificates of authorities", function()
  it("are told to be missing", function()
    local path = process.path "nothing.pem"
    assert_refused("there is no file " .. path:gsub("%p", "%%%0") .. " to read",
      try(nil, { ca_file = path }))
  end)

  it("are told to be none", function()
    local path = process.file("garbage.pem", "garbage")
    assert_refused(".*garbage.pem: no certificate or crl found",
      try(nil, { ca_file = path }))
  end)

  it("are read again after a failure", function()
    local certificate = certificates.make()
    local path = certificate:file()
    assert(os.rename(path, path .. ".away"))
    assert_refused("there is no file .*", try({ certificate = certificate },
      { ca_file = path }))
    assert(os.rename(path .. ".away", path))
    assert_works(try({ certificate = certificate }, { ca_file = path }))
  end)

  -- What the system trusts is kept for an hour, so each case takes the module anew.
  local function dial_anew(server)
    local dial_name, tls_name = "luaweb.client.dial", "luaweb.client.tls"
    local kept = { package.loaded[dial_name], package.loaded[tls_name] }
    package.loaded[dial_name], package.loaded[tls_name] = nil, nil
    local anew = require(dial_name)
    package.loaded[dial_name], package.loaded[tls_name] = kept[1], kept[2]
    return anew.open { host = "localhost", port = server.port, tls = {} }
  end

  local function with_environment(name, value, fn)
    local before = os.getenv(name)
    ffi.C.setenv(name, value, 1)
    local ok, err = pcall(fn)
    if before then ffi.C.setenv(name, before, 1) else ffi.C.unsetenv(name) end
    if not ok then error(err, 0) end
  end

  it("come from SSL_CERT_FILE", function()
    local server = tls_server.start(shout)
    with_environment("SSL_CERT_FILE", server.certificate:file(), function()
      assert_works(dial_anew(server))
    end)
  end)

  it("come from SSL_CERT_DIR, where they have the names of c_rehash", function()
    local server = tls_server.start(shout)
    local path = server.certificate:file()
    assert(os.rename(path, process.path "0123abcd.0"))
    with_environment("SSL_CERT_FILE", "/nothing", function()
      with_environment("SSL_CERT_DIR", "/nothing:" .. path:match "^.*/", function()
        assert_works(dial_anew(server))
      end)
    end)
  end)

  it("are told to be nowhere", function()
    local server = tls_server.start(shout)
    with_environment("SSL_CERT_FILE", "/nothing", function()
      with_environment("SSL_CERT_DIR", "/nothing", function()
        assert_refused("no certificates of authorities at /nothing: install the "
          .. "package ca%-certificates, or set SSL_CERT_FILE", dial_anew(server))
      end)
    end)
  end)
end)

describe("the handshake", function()
  for _, version in ipairs { "TLSv1.2", "TLSv1.3" } do
    it("agrees on " .. version, function()
      local conn = assert(try { from = version, to = version })
      assert.equal(version, conn.tls.version)
      assert_works(conn)
    end)
  end

  for _, version in ipairs { "TLSv1", "TLSv1.1" } do
    it("refuses a server that offers no more than " .. version, function()
      assert_refused(".*: the server offers less than TLS 1.2",
        try({ from = version, to = version }))
    end)
  end

  it("refuses a server that speaks something else", function()
    local server = faulty_server.start(function(conn)
      conn:receive()
      conn:send "HTTP/1.1 400 Bad Request\r\n\r\n"
      conn:receive()
    end)
    assert_refused("wrong version number: the server does not speak TLS on this port",
      dial.open { host = "localhost", port = server.port, tls = { verify = false } })
  end)

  it("tells that the server ended it", function()
    local server = faulty_server.start(function(conn) conn:receive() end)
    assert_refused("the server ended the connection",
      dial.open { host = "localhost", port = server.port, tls = { verify = false } })
  end)

  it("tells that the server reset it", function()
    local server = faulty_server.start(function(conn)
      conn:receive()
      conn:reset()
    end)
    assert_refused("[Cc]onnection reset by peer",
      dial.open { host = "localhost", port = server.port, tls = { verify = false } })
  end)

  for title, name in pairs {
    ["no name"] = "", ["a name that is too long"] = ("a."):rep(200) .. "example",
    ["an address of no such form"] = "1.2.3.4.5", ["octets that no name has"] = "a b",
  } do
    it("is not begun with " .. title, function()
      local server = faulty_server.start(function(conn) conn:is_left() end)
      local conn = assert(dial.open { host = "127.0.0.1", port = server.port })
      local facts, message, kind = tls.secure(conn.id, "there", name, {}, math.huge)
      conn:close()
      assert.is_nil(facts)
      assert.matches("^no certificate can be of this host: it ", message)
      assert.equal("tls", kind)
    end)
  end

  it("is given up when the time is over", function()
    local server = faulty_server.start(function(conn) return conn:is_left() end)
    local conn, message, kind = dial.open { host = "localhost", port = server.port,
      timeout = 0.1, tls = { verify = false } }
    assert.is_nil(conn)
    assert.matches("^no TLS with localhost port %d+ within 0.1 s: the server does not "
      .. "answer$", message)
    assert.equal("timeout", kind)
    assert.is_true(server.conns[1]:is_left())
  end)
end)
