-- SPDX-License-Identifier: MIT
-- The script of pages that refresh themselves while an app is developed.  It listens to
-- an event stream while its page is seen (a browser has few connections for one host),
-- loads the page anew when another generation serves than made it, and shows why a
-- generation could not be loaded.  A page that stays the same although it was loaded
-- anew (a cache) is not loaded again and again.
return [[
(function () {
  "use strict";
  var tag = document.currentScript;
  if (window.luawebDev || !tag) return;
  window.luawebDev = true;
  var mine = tag.getAttribute("data-generation");
  var source = null, box = null;

  function wasTried(generation) {
    try {
      var key = "luaweb.dev " + location.pathname + location.search;
      if (sessionStorage.getItem(key) === generation) return true;
      sessionStorage.setItem(key, generation);
    } catch (e) { /* no storage: then there is no cache of ours to fear either */ }
    return false;
  }

  function refresh(generation) {
    if (wasTried(generation)) return;
    disconnect();
    var reload = function () { location.reload(); };
    // Past the cache: what the app says of the age of a page was said of another one.
    // What comes stays there for the page, so it has to be that of a page.
    fetch(location.href, { cache: "reload",
      headers: { "Accept": "text/html,*/*;q=0.8", "Luaweb-Refresh": mine } })
      .then(reload, reload);
  }

  function hide() {
    if (box) box.remove();
    box = null;
  }

  function element(name, style, text) {
    var made = document.createElement(name);
    made.style.cssText = style;
    made.textContent = text;
    return made;
  }

  function show(failure) {
    hide();
    var font = "font:13px/1.5 ui-monospace,monospace;";
    box = element("div", "all:initial;display:block;position:fixed;inset:auto 0 0 0;"
      + "z-index:2147483647;max-height:70vh;overflow:auto;box-sizing:border-box;"
      + "background:#1b1113;color:#f4e9e9;padding:14px 18px;"
      + "border-top:4px solid #ff5c4d;" + font, "");
    box.id = "luaweb-failure";
    box.setAttribute("role", "alert");
    var close = element("button", "all:initial;float:right;cursor:pointer;"
      + "color:#f4e9e9;padding:0 6px;" + font, "\u00d7");
    close.setAttribute("aria-label", "Close");
    close.onclick = hide;
    box.appendChild(close);
    box.appendChild(element("div", "display:block;color:#c9b5b5;" + font,
      "The newest version does not load; the one before it serves."));
    box.appendChild(element("pre", "display:block;margin:8px 0;white-space:pre-wrap;"
      + "color:#ff9d93;font-weight:600;" + font, failure.message));
    if (failure.excerpt) {
      box.appendChild(element("pre", "display:block;margin:8px 0;white-space:pre;"
        + font, failure.place + "\n" + failure.excerpt));
    }
    document.documentElement.appendChild(box);
  }

  function connect() {
    if (source || document.visibilityState === "hidden") return;
    source = new EventSource("/.luaweb/events");
    source.addEventListener("generation", function (event) {
      if (event.data !== mine) refresh(event.data);
    });
    source.addEventListener("failure", function (event) {
      show(JSON.parse(event.data));
    });
    source.addEventListener("success", hide);
  }

  function disconnect() {
    if (source) source.close();
    source = null;
  }

  document.addEventListener("visibilitychange", function () {
    if (document.visibilityState === "hidden") disconnect(); else connect();
  });
  window.addEventListener("pagehide", disconnect);
  window.addEventListener("pageshow", connect);
  connect();
})();
]]
